//! Two ranks on threads, each with its context, for tests of collectives.
use lpt::*;

/// Returns the result of each rank, in rank order. Contexts have two threads: callbacks also run on threads of the library.
pub fn on_ranks<T: Send>(body: impl Fn(&Context, Comm, usize) -> T + Sync) -> Vec<T> {
    let group = CommGroup::new(2).unwrap();
    std::thread::scope(|scope| {
        let rank = |rank| {
            let (group, body) = (&group, &body);
            scope.spawn(move || {
                let context = Context::with_options(&ContextOptions::default().thread_count(2)).unwrap();
                let options = CommOptions::default().timeout_seconds(60.0);
                body(&context, Comm::local(&context, group, rank, &options).unwrap(), rank as usize)
            })
        };
        let ranks: Vec<_> = (0..2).map(rank).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}
