//! Finds liblpt in LPT_LIB_DIR, or by pkg-config. LPT_STATIC=1 links the static library. The script needs no crates.
//! The feature `bindgen` also reads lpt.h from LPT_INCLUDE_DIR, or from the folder that pkg-config reports.
use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    for name in ["LPT_LIB_DIR", "LPT_INCLUDE_DIR", "LPT_STATIC", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    // docs.rs builds documentation without the library.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    if env::var_os("CARGO_FEATURE_BINDGEN").is_some() {
        write_bindings();
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

fn write_bindings() {
    let folder = env::var("LPT_INCLUDE_DIR").unwrap_or_else(|_| pkg_config("--variable=includedir").trim().to_owned());
    let made = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("bindgen.rs");
    println!("cargo:rerun-if-changed={folder}");
    let kinds = ["--allowlist-function=lpt_.*", "--allowlist-type=lpt_.*", "--allowlist-var=LPT_.*"];
    let status = Command::new("bindgen")
        .args(kinds)
        .args(["--no-layout-tests", "--no-doc-comments", "--no-prepend-enum-name", "--output"])
        .arg(made)
        .arg(format!("{folder}/lpt/research.h"))
        .status();
    assert!(status.expect("the program bindgen is missing").success(), "bindgen did not read {folder}/lpt/research.h");
}

fn library_folders() -> Vec<String> {
    if let Ok(folder) = env::var("LPT_LIB_DIR") {
        return vec![folder];
    }
    let text = pkg_config("--libs-only-L");
    text.split_whitespace().filter_map(|word| word.strip_prefix("-L")).map(str::to_owned).collect()
}

fn pkg_config(option: &str) -> String {
    let result = Command::new("pkg-config").args([option, "--keep-system-libs", "lpt"]).output();
    let output = result.expect("pkg-config is missing: install it, or set LPT_LIB_DIR and LPT_INCLUDE_DIR");
    if !output.status.success() {
        panic!("pkg-config does not find lpt: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8_lossy(&output.stdout).into_owned()
}
