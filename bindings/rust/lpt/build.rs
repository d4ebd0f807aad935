//! Tests and examples find the library where it was linked, without LD_LIBRARY_PATH.
fn main() {
    if let Ok(folder) = std::env::var("DEP_LPT_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
