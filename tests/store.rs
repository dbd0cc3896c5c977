//! Files in object stores and on web servers, against real servers on loopback that also fail on purpose.

use std::io::Read;
use std::time::{Duration, Instant};

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::{Fate, Location, Place, StoreConfig, Stores, store_error};

use crate::support::dir::TestDir;
use crate::support::s3::{BUCKET, Fault, Manners, S3, impatient, quick, web};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn at(text: &str) -> Location {
    Location::parse(text).expect(text)
}

fn object(key: &str) -> Location {
    at(&format!("s3://{BUCKET}/{key}"))
}

fn on(stores: &Stores, location: &Location) -> Place {
    Place::new(stores, location.clone())
}

/// Bytes without a pattern that a shifted range would hide.
fn noise(n_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; n_bytes];
    blake3::Hasher::new().update(b"noise").finalize_xof().fill(&mut bytes);
    bytes
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

fn write(stores: &Stores, location: &Location, bytes: &[u8]) -> Result<()> {
    block_on(async {
        let mut file = on(stores, location).create()?;
        for piece in bytes.chunks(100_000) {
            file.write(piece).await?;
        }
        file.commit().await
    })
}

fn read(stores: &Stores, location: &Location) -> Result<Vec<u8>> {
    let blob = on(stores, location).open()?;
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| store_error(&error).expect("the store failed, not the bytes");
    blob.stream().read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn serve() -> (TestDir, S3, Stores) {
    let dir = TestDir::new();
    let s3 = S3::start(dir.root());
    let stores = Stores::new(s3.config());
    (dir, s3, stores)
}

/// Fails of `kind` with all `words` in its text.
#[track_caller]
fn fails<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind, words: &[&str]) -> Error {
    let error = result.expect_err("it must fail");
    let text = error.to_string();
    assert_eq!(error.kind, kind, "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in {text:?}");
    }
    error
}

#[test]
fn objects_of_every_size_come_back() {
    let (_dir, s3, stores) = serve();
    for (name, n_bytes) in [("none", 0), ("one", 1), ("part", 5 * MIB), ("parts", 17 * MIB + 3)] {
        let (location, bytes) = (object(&format!("dir/{name}.bin")), noise(n_bytes));
        s3.server.work();
        write(&stores, &location, &bytes).expect("written");
        let n_parts = s3.server.seen().iter().filter(|request| request.contains("partNumber")).count();
        assert_eq!(n_parts, if n_bytes > 5 * MIB { 4 } else { n_bytes / (5 * MIB) }, "{name}");
        assert!(read(&stores, &location).expect("read") == bytes, "{name}");
        let blob = on(&stores, &location).open().expect("it is there");
        assert_eq!(blob.bytes(), Some(n_bytes as u64));
        for (start, end) in [(0, 0), (0, 1), (n_bytes / 3, n_bytes / 3 * 2), (n_bytes.saturating_sub(1), n_bytes)] {
            if end <= n_bytes && start <= end {
                let found = blob.read_range(start as u64..end as u64).expect("a range");
                assert!(found == bytes[start..end], "{name} from {start} to {end}");
            }
        }
        assert_eq!(on(&stores, &location).read_all().expect("read"), Some(bytes), "{name}");
        assert_eq!(blob.change().expect("it answers"), Fate::None, "nobody wrote");
    }
    assert_eq!(s3.loose_parts(), 0);
}

#[test]
fn documents_are_put_once() {
    let (dir, _s3, stores) = serve();
    for location in [object("plan.json"), Location::from(dir.path("local/plan.json"))] {
        assert_eq!(on(&stores, &location).read_all().expect("asked"), None);
        assert!(!on(&stores, &location).exists().expect("asked"));
        assert!(block_on(on(&stores, &location).put_if_absent(b"first")).expect("written"));
        assert!(!block_on(on(&stores, &location).put_if_absent(b"second")).expect("refused"));
        assert_eq!(on(&stores, &location).read_all().expect("read").as_deref(), Some(&b"first"[..]));
        block_on(on(&stores, &location).write_atomic(b"third")).expect("written");
        assert_eq!(on(&stores, &location).read_all().expect("read").as_deref(), Some(&b"third"[..]));
    }
}

#[test]
fn what_is_not_committed_is_not_there() {
    let (dir, s3, stores) = serve();
    for location in [object("half"), Location::from(dir.path("local/half"))] {
        let bytes = noise(12 * MIB);
        let mut file = on(&stores, &location).create().expect("started");
        block_on(file.write(&bytes)).expect("written");
        drop(file);
        assert!(!on(&stores, &location).exists().expect("asked"));
    }
    stores.settle();
    assert_eq!(s3.loose_parts(), 0, "the upload was aborted");
    assert_eq!(std::fs::read_dir(dir.path("local")).expect("the folder").count(), 0);
}

#[test]
fn files_are_listed_by_name() {
    let (dir, _s3, stores) = serve();
    let names = ["logs/a.jsonl", "logs/b/c.jsonl.zst", "logs/b/d.txt", "logs2/e.jsonl", "f.jsonl"];
    let local = dir.path("local");
    for root in [object(""), Location::from(&*local)] {
        for name in names {
            write(&stores, &root.join(name), name.as_bytes()).expect("written");
        }
        let listed = |found: Vec<condenser::io::store::Listed>| -> Vec<String> {
            for listed in &found {
                let blob = on(&stores, &listed.location).open().expect("it is there");
                assert_eq!((blob.bytes(), blob.mark()), (listed.bytes, &*listed.mark));
            }
            let names = found.iter().map(|listed| listed.location.to_string());
            names.map(|name| name.replace(&format!("{root}/"), "")).collect()
        };
        let all = listed(on(&stores, &root.join("logs")).list().expect("listed"));
        assert_eq!(all, ["logs/a.jsonl", "logs/b/c.jsonl.zst", "logs/b/d.txt"]);
        let flat = listed(on(&stores, &root.join("logs*/*.jsonl")).matches().expect("matched"));
        assert_eq!(flat, ["logs/a.jsonl", "logs2/e.jsonl"]);
        let deep = listed(on(&stores, &root.join("**/*.jsonl*")).matches().expect("matched"));
        assert_eq!(deep, ["f.jsonl", "logs/a.jsonl", "logs/b/c.jsonl.zst", "logs2/e.jsonl"]);
        assert!(on(&stores, &root.join("nothing/*.x")).matches().expect("matched").is_empty());
    }
}

#[test]
fn a_failing_server_is_asked_again() {
    let (_dir, s3, stores) = serve();
    let bytes = noise(12 * MIB);
    let all = [Fault::Broken, Fault::SlowDown, Fault::Reset, Fault::Truncate, Fault::ResetAfter, Fault::StallHalfWay];
    for every in [2, 3, 5] {
        s3.server.fail(every, &all);
        let location = object(&format!("every/{every}"));
        write(&stores, &location, &bytes).unwrap_or_else(|error| panic!("every {every}: {error}"));
        for n in 0..3 {
            assert!(read(&stores, &location).expect("read") == bytes);
            block_on(on(&stores, &object(&format!("list/{every}/{n}"))).write_atomic(b"x")).expect("written");
        }
        assert_eq!(on(&stores, &object(&format!("list/{every}"))).list().expect("listed").len(), 3);
        assert!(s3.server.n_hit() > 5, "{}", s3.server.n_hit());
    }
    s3.server.work();
    for every in [2, 3, 5] {
        assert!(std::fs::read(s3.path(&format!("every/{every}"))).expect("it is there") == bytes);
    }
}

#[test]
fn a_server_that_fails_for_good_is_given_up() {
    let (_dir, s3, stores) = serve();
    write(&stores, &object("a"), &noise(3 * MIB)).expect("written");
    let stores = Stores::new(impatient(s3.config()));
    let blob = on(&stores, &object("a")).open().expect("it is there");
    for (fault, words) in [
        (Fault::Broken, "the server answered 500 InternalError"),
        (Fault::SlowDown, "the server answered 503 SlowDown"),
        (Fault::Reset, "the connection broke"),
        (Fault::Stall, "the server did not answer within 0.3 s"),
    ] {
        let started = Instant::now();
        s3.server.fail(1, &[fault]);
        fails(blob.read_range(0..1000), ErrorKind::Io, &["s3://bucket/a: cannot be read", words, "(tried 4 times in "]);
        assert_eq!(s3.server.seen().len(), 4, "{fault:?}");
        fails(on(&stores, &object("")).list(), ErrorKind::Io, &["s3://bucket: cannot be listed"]);
        fails(read(&stores, &object("a")), ErrorKind::Io, &["s3://bucket/a: cannot be read", words]);
        fails(write(&stores, &object("b"), b"x"), ErrorKind::Io, &["s3://bucket/b: cannot be written", words]);
        fails(write(&stores, &object("c"), &noise(11 * MIB)), ErrorKind::Io, &["s3://bucket/c: cannot be "]);
        assert!(started.elapsed() < Duration::from_mins(1), "{fault:?} took {:?}", started.elapsed());
    }
    s3.server.work();
    assert_eq!(on(&stores, &object("")).list().expect("listed").len(), 1, "nothing half-written is there");
}

#[test]
fn a_stall_is_an_error_in_bounded_time() {
    let (_dir, s3, stores) = serve();
    write(&stores, &object("a"), &noise(3 * MIB)).expect("written");
    let stores = Stores::new(impatient(s3.config()));
    let blob = on(&stores, &object("a")).open().expect("it is there");
    s3.server.fail_all("GET", Fault::StallHalfWay);
    let started = Instant::now();
    // Every try gets on by half of the rest, but the tries are counted.
    fails(blob.read_range(0..MIB as u64), ErrorKind::Io, &["s3://bucket/a: cannot be read", "(tried 4 times in "]);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    let slow =
        Stores::new(StoreConfig { max_retries: 100, retry_timeout: Duration::from_secs(1), ..impatient(s3.config()) });
    s3.server.fail_all("PUT", Fault::Stall);
    let started = Instant::now();
    fails(write(&slow, &object("b"), b"x"), ErrorKind::Io, &["did not answer within 0.3 s"]);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn an_object_that_changes_is_not_mixed() {
    let (_dir, s3, stores) = serve();
    let old = noise(4 * MIB);
    write(&stores, &object("a"), &old).expect("written");
    let blob = on(&stores, &object("a")).open().expect("it is there");
    let mut reader = blob.stream();
    let mut first = vec![0; 100 * KIB];
    reader.read_exact(&mut first).expect("the first range");
    assert!(old.starts_with(&first));
    let mut new = old.clone();
    new[3 * MIB] ^= 1;
    write(&stores, &object("a"), &new).expect("written");
    let error = reader.read_to_end(&mut Vec::new()).expect_err("it changed");
    fails(
        Err::<(), _>(store_error(&error).expect("the store says so")),
        ErrorKind::Input,
        &["s3://bucket/a", "changed"],
    );
    fails(blob.read_range(0..10), ErrorKind::Input, &["changed while it was read"]);
    assert_eq!(blob.change().expect("it answers"), Fate::Written);
    std::fs::remove_file(s3.path("a")).expect("it is there");
    fails(blob.read_range(0..10), ErrorKind::Input, &["changed while it was read"]);
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let (dir, s3, stores) = serve();
    let wrong = at("s3://no-such-bucket/key");
    let words = ["s3://no-such-bucket", "the bucket does not exist", "check its name"];
    fails(on(&stores, &wrong).list(), ErrorKind::Usage, &words);
    fails(
        on(&stores, &object("nothing")).open(),
        ErrorKind::Io,
        &["s3://bucket/nothing", "there is nothing under this name"],
    );
    fails(on(&stores, &Location::from(dir.path("no"))).open(), ErrorKind::Io, &["cannot be opened"]);
    fails(on(&stores, &Location::from(dir.root())).open(), ErrorKind::Usage, &["a folder"]);
    let mut config = s3.config();
    config.settings.insert("aws_secret_access_key".to_owned(), "wrong".to_owned());
    let intruder = Stores::new(config);
    let error = fails(
        on(&intruder, &object("")).list(),
        ErrorKind::Io,
        &["refused the credentials (403 SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"],
    );
    assert!(!error.to_string().contains("wrong"), "{error}");
    fails(on(&intruder, &object("a")).open(), ErrorKind::Io, &["refused the credentials"]);
    fails(
        block_on(on(&intruder, &object("a")).write_atomic(b"x")),
        ErrorKind::Io,
        &["cannot be written: the store refused"],
    );
    let mut config = s3.config();
    config.settings.insert("aws_endpoint_url".to_owned(), "http://127.0.0.1:1".to_owned());
    let lost = Stores::new(config);
    fails(on(&lost, &object("a")).open(), ErrorKind::Io, &["the server cannot be reached", "refused"]);
    fails(on(&stores, &at("http://127.0.0.1/a")).create(), ErrorKind::Usage, &["only read"]);
    fails(on(&stores, &at("s3://bucket")).create(), ErrorKind::Usage, &["a bucket"]);
}

#[test]
fn settings_that_are_wrong_are_told_at_once_and_never_tried_again() {
    let (_dir, s3, stores) = serve();
    write(&stores, &object("a"), b"x").expect("written");
    // As patient as the program is: a try again would be seen.
    let patient = |key: &str, value: &str| {
        let mut config = StoreConfig { settings: s3.config().settings, ..StoreConfig::default() };
        config.settings.insert(key.to_owned(), value.to_owned());
        Stores::new(config)
    };
    let before = s3.server.seen().len();
    for (key, value, kind, words) in [
        ("aws_secret_access_key", "wrong", ErrorKind::Io, "refused the credentials (403 SignatureDoesNotMatch"),
        ("aws_access_key_id", "nobody", ErrorKind::Io, "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("aws_allow_http", "false", ErrorKind::Usage, "set AWS_ALLOW_HTTP=true"),
        ("aws_endpoint_url", "127.0.0.1:9", ErrorKind::Usage, "the endpoint is no address: write it with https://"),
        ("aws_endpoint_url", "http:// x", ErrorKind::Usage, "the endpoint is no address"),
    ] {
        let (wrong, started) = (patient(key, value), Instant::now());
        fails(read(&wrong, &object("a")), kind, &[words]);
        fails(on(&wrong, &object("")).list(), kind, &[words]);
        fails(write(&wrong, &object("b"), b"x"), kind, &[words]);
        fails(block_on(on(&wrong, &object("b")).write_atomic(b"x")), kind, &[words]);
        assert!(started.elapsed() < Duration::from_secs(10), "{key}={value} took {:?}", started.elapsed());
    }
    // Two wrong keys, four calls each, one request for each call.
    assert_eq!(s3.server.seen().len() - before, 8, "{:?}", s3.server.seen());
    let started = Instant::now();
    let nowhere = at("s3://no-such-bucket/key");
    let region = patient("aws_region", "us-east-1");
    fails(on(&region, &nowhere).list(), ErrorKind::Usage, &["the bucket does not exist"]);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn web_servers_of_all_manners_are_read() {
    let dir = TestDir::new();
    let bytes = noise(3 * MIB + 17);
    dir.write("a.bin", &bytes);
    dir.write("none.bin", b"");
    for (ranges, length, tag) in
        [(true, true, true), (true, true, false), (false, true, true), (false, false, true), (false, false, false)]
    {
        let server = web(dir.root(), Manners { ranges, length, tag, login: false });
        let stores = Stores::new(quick());
        let url = |name: &str| at(&format!("{}/{name}?token=secret", server.url()));
        let location = url("a.bin");
        let blob = on(&stores, &location).open().expect("it is there");
        assert_eq!(blob.bytes(), (ranges || length).then_some(bytes.len() as u64));
        assert!(!location.to_string().contains("secret") && !format!("{blob:?}").contains("secret"));
        assert!(read(&stores, &location).expect("read") == bytes);
        assert_eq!(on(&stores, &url("none.bin")).read_all().expect("read"), Some(Vec::new()));
        assert_eq!(on(&stores, &url("no.bin")).read_all().expect("asked"), None);
        fails(on(&stores, &url("no.bin")).open(), ErrorKind::Io, &["there is nothing under this name"]);
        if ranges {
            assert!(blob.read_range(1000..2000).expect("a range") == bytes[1000..2000]);
            server.fail(2, &[Fault::Broken, Fault::Truncate, Fault::Reset, Fault::StallHalfWay]);
            assert!(read(&stores, &location).expect("read") == bytes);
            assert!(server.n_hit() > 1);
        } else {
            fails(blob.read_range(0..10), ErrorKind::Input, &["gives no ranges"]);
            // Before the first byte another try is right, after it no other version may follow.
            server.fail(2, &[Fault::Broken]);
            assert!(read(&stores, &location).expect("read") == bytes);
        }
        server.work();
        fails(on(&stores, &location).list(), ErrorKind::Usage, &["lists no files"]);
        let mut changed = bytes.clone();
        changed.push(1);
        dir.write("a.bin", &changed);
        if ranges || tag {
            let result = blob.stream().read_to_end(&mut Vec::new());
            let error = store_error(&result.expect_err("it changed")).expect("the store says so");
            assert!(error.message.contains("changed"), "{error}");
        }
        dir.write("a.bin", &bytes);
    }
}

#[test]
fn a_stream_without_ranges_fails_when_it_breaks() {
    let dir = TestDir::new();
    dir.write("a.bin", noise(3 * MIB));
    let server = web(dir.root(), Manners { length: true, ..Manners::default() });
    let stores = Stores::new(impatient(quick()));
    let location = at(&format!("{}/a.bin", server.url()));
    for fault in [Fault::Truncate, Fault::StallHalfWay] {
        let blob = on(&stores, &location).open().expect("it is there");
        server.fail(1, &[fault]);
        let result = blob.stream().read_to_end(&mut Vec::new());
        let error = store_error(&result.expect_err("it breaks")).expect("the store says so");
        fails(Err::<(), _>(error), ErrorKind::Io, &["cannot be read", "copy the file first"]);
        server.work();
    }
}

#[test]
fn web_servers_may_want_a_login() {
    let dir = TestDir::new();
    dir.write("a.bin", b"hello");
    let server = web(dir.root(), Manners { ranges: true, length: true, tag: true, login: true });
    let stores = Stores::new(quick());
    let host = server.url().replace("http://", "");
    let known = at(&format!("http://user:pass%20word@{host}/a.bin"));
    assert_eq!(read(&stores, &known).expect("read"), b"hello");
    assert!(!known.to_string().contains("pass"));
    let unknown = at(&format!("http://{host}/a.bin"));
    fails(on(&stores, &unknown).open(), ErrorKind::Io, &["refused the credentials (401)"]);
}

#[test]
fn parquet_is_read_by_range() {
    use arrow::array::{Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let (dir, s3, stores) = serve();
    let texts =
        StringArray::from_iter_values((0..60_000).map(|n| blake3::hash(&[n as u8, (n >> 8) as u8]).to_string()));
    let numbers = Int64Array::from_iter_values(0..60_000);
    let batch = RecordBatch::try_from_iter([
        ("text", std::sync::Arc::new(texts) as _),
        ("number", std::sync::Arc::new(numbers) as _),
    ])
    .expect("two columns");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    for at in 0..6 {
        writer.write(&batch.slice(at * 10_000, 10_000)).expect("written");
        writer.flush().expect("a row group");
    }
    let bytes = writer.into_inner().expect("closed");
    let local = Location::from(dir.write("a.parquet", &bytes));
    write(&stores, &object("a.parquet"), &bytes).expect("written");
    for (location, faults) in [(local, false), (object("a.parquet"), false), (object("a.parquet"), true)] {
        s3.server.fail(if faults { 3 } else { 0 }, &[Fault::Truncate, Fault::Broken, Fault::Reset]);
        let blob = on(&stores, &location).open().expect("it is there");
        let read = |groups: Vec<usize>| -> usize {
            let builder = ParquetRecordBatchReaderBuilder::try_new(blob.clone()).expect("metadata");
            let reader = builder.with_row_groups(groups).with_batch_size(1000).build().expect("a reader");
            reader.map(|batch| batch.expect("rows").num_rows()).sum()
        };
        assert_eq!(read(vec![4]), 10_000);
        assert_eq!(read((0..6).collect()), 60_000);
        let n_requests = s3.server.seen().len();
        assert!(n_requests < 30, "{n_requests} requests for {} bytes", bytes.len());
    }
}
