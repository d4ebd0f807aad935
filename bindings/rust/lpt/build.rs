//! Sets the run path of tests and examples to the folder of the linked library, so that they need no LD_LIBRARY_PATH.
fn main() {
    if let Ok(folder) = std::env::var("DEP_LPT_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
