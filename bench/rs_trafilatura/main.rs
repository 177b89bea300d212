// rs-trafilatura for bench/extract, in the line protocol of `forage extract --batch`: each line of standard input is
// PAGE <tab> URL <tab> OUT; the Markdown goes to OUT, and the answer is PAGE <tab> MICROSECONDS of processor time.
use rs_trafilatura::{extract_bytes_with_options, Options};
use std::io::{self, BufRead, Write};

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

const CLOCK_PROCESS_CPUTIME_ID: i32 = 2; // of Linux

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn processor_microseconds() -> i64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.seconds * 1_000_000 + time.nanoseconds / 1000
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        let source = std::fs::read(fields[0])?;
        let options = Options {
            url: Some(fields[1].to_string()),
            output_markdown: true,
            ..Options::default()
        };
        let started = processor_microseconds();
        let result = extract_bytes_with_options(&source, &options);
        let taken = processor_microseconds() - started;
        let text = result.ok().and_then(|page| page.content_markdown).unwrap_or_default();
        std::fs::write(fields[2], text)?;
        println!("{}\t{}", fields[0], taken);
        io::stdout().flush()?;
    }
    Ok(())
}
