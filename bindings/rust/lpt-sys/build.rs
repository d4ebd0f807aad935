//! Finds liblpt: in LPT_LIB_DIR, else where pkg-config says. LPT_STATIC=1 links the archive. No crates are needed.
use std::env;
use std::process::Command;

fn main() {
    for name in ["LPT_LIB_DIR", "LPT_STATIC", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    // Documentation is built where there is no library.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let is_static = env::var("LPT_STATIC").map_or(false, |value| value == "1");
    for folder in library_folders() {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:libdir={folder}");
    }
    if is_static {
        println!("cargo:rustc-link-lib=static=lpt");
        println!("cargo:rustc-link-lib=dylib=stdc++");
    } else {
        println!("cargo:rustc-link-lib=dylib=lpt");
    }
}

fn library_folders() -> Vec<String> {
    if let Ok(folder) = env::var("LPT_LIB_DIR") {
        return vec![folder];
    }
    let asked = Command::new("pkg-config").args(["--libs-only-L", "--keep-system-libs", "lpt"]).output();
    let told = asked.expect("pkg-config is missing: install it, or say LPT_LIB_DIR");
    if !told.status.success() {
        panic!("pkg-config knows no lpt: {}", String::from_utf8_lossy(&told.stderr));
    }
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    text.split_whitespace().filter_map(|word| word.strip_prefix("-L")).map(str::to_owned).collect()
}
