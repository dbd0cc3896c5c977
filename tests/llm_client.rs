//! The client against a server that fails in every way that is known, in the words of both APIs.

use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use condenser::error::ErrorKind;
use condenser::llm::{Client, Completion, ModelSettings, Patience, Refusal, RefusalKind, Request, Usage};
use condenser::model::Turn;
use condenser::pipeline::{LlmProvider, LlmSettings, Secret, read_job};
use futures::stream::{self, BoxStream, StreamExt};

use crate::support::llm_server::{LlmServer, Piece, Play, Reply, Route, Words};

const KEY: &str = "sk-very-secret-7f3a";
const BOTH: [LlmProvider; 2] = [LlmProvider::Openai, LlmProvider::Anthropic];

fn settings(base_url: &str, provider: LlmProvider, more: &str) -> LlmSettings {
    let job = format!(
        "inputs = [\"in\"]\noutput = \"run\"\n[engine]\nsummarizer = \"normal\"\n[llm]\nmodel = \"the-model\"\n\
         provider = \"{}\"\nkey_env = \"KEY\"\nbase_url = \"{base_url}\"\n{more}",
        format!("{provider:?}").to_lowercase()
    );
    let job = read_job("job.toml", &job, &[]).expect("TOML");
    job.settle(&|_| Some(KEY.to_owned())).expect("fine").llm.expect("it is asked")
}

/// Waits of some milliseconds.
const QUICK: Patience = Patience {
    connect_timeout: Duration::from_secs(2),
    first_backoff: Duration::from_millis(4),
    max_retry_after: Duration::from_millis(1_500),
};

struct Asking {
    client: Client,
    model: ModelSettings,
}

impl Asking {
    fn of(server: &LlmServer, provider: LlmProvider, more: &str) -> Self {
        let settings = settings(&server.base_url(), provider, more);
        let key = settings.key(|_| panic!("no file")).expect("a key");
        let client = Client::new(&settings, key.as_ref(), QUICK).expect("a client");
        Self { client, model: ModelSettings::of(&settings) }
    }

    async fn ask(&self, text: &str) -> Result<Completion, Refusal> {
        let turn = |role: &str, text: &str| Turn { role: role.into(), text: text.into(), ..Turn::default() };
        let turns = vec![turn("system", "be terse"), turn("user", text)];
        let body = self.model.body(&Request { turns, max_tokens: 50, cache_until: None });
        self.client.complete(body, 50).await
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads")
        .block_on(future)
}

#[test]
fn a_reply_is_read_and_counted() {
    for provider in BOTH {
        let server = LlmServer::start(|asked| Play::text(format!("you said {}", asked.prompt)));
        let prices = "prices = { input = 1.0, cached_input = 0.5, output = 4.0 }";
        let asking = Asking::of(&server, provider, prices);
        let reply = block_on(asking.ask("three more words")).expect("a reply");
        assert_eq!(reply.text, "you said three more words");
        assert_eq!(reply.usage, Usage { input: 3, cached: 2, cache_written: 0, output: 5 });
        let spend = asking.client.spend();
        assert_eq!((spend.requests, spend.retries, spend.failures, spend.usage), (1, 0, 0, reply.usage));
        let cost = (3.0 + 2.0 * 0.5 + 5.0 * 4.0) / 1e6;
        assert!((spend.cost.expect("prices") - cost).abs() < 1e-12, "{spend:?}");
        let arrived = server.arrived();
        let expected = match provider {
            LlmProvider::Openai => ("/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
            LlmProvider::Anthropic => ("/v1/messages", "x-api-key", KEY.to_owned()),
        };
        assert_eq!((&*arrived[0].path, arrived[0].header(expected.1)), (expected.0, Some(&*expected.2)));
        assert_eq!(arrived[0].header("content-type"), Some("application/json"));
        let version = (provider == LlmProvider::Anthropic).then_some("2023-06-01");
        assert_eq!(arrived[0].header("anthropic-version"), version);
    }
}

#[test]
fn replies_without_text_are_replies() {
    for provider in BOTH {
        let plays = vec![Play::ToolCall("read".into()), Play::Empty, Play::Cut("half a".into())];
        let server = LlmServer::playing(plays);
        let asking = Asking::of(&server, provider, "");
        let replies = block_on(async { [asking.ask("a").await, asking.ask("b").await, asking.ask("c").await] });
        let replies = replies.map(|reply| reply.expect("a reply"));
        let seen = replies.each_ref().map(|reply| (&*reply.text, reply.has_calls, reply.is_cut));
        assert_eq!(seen, [("", true, false), ("", false, false), ("half a", false, true)]);
        assert_eq!(server.n_arrived(), 3);
    }
}

#[test]
fn what_passes_is_tried_again() {
    let overloaded = || Play::error(529, "overloaded_error", "Overloaded");
    let broken = || Play::error(500, "api_error", "on purpose");
    let cases = [
        vec![broken(), broken(), Play::text("at last")],
        vec![overloaded(), Play::text("at last")],
        vec![Play::Truncated, Play::text("at last")],
        vec![Play::Broken, Play::text("at last")],
        vec![Play::Stall, Play::text("at last")],
        vec![Play::StallHalfWay, Play::text("at last")],
        vec![Play::Status(200, vec![], "{}".into()), Play::text("at last")],
        vec![Play::Status(429, vec![], String::new()), Play::text("at last")],
    ];
    for provider in BOTH {
        for plays in &cases {
            let server = LlmServer::playing(plays.clone());
            let asking = Asking::of(&server, provider, "timeout = 0.7");
            let reply = block_on(asking.ask("x")).unwrap_or_else(|refusal| panic!("{plays:?}: {refusal:?}"));
            assert_eq!(reply.text, "at last");
            let spend = asking.client.spend();
            assert_eq!((spend.requests, spend.retries), (plays.len() as u64, plays.len() as u64 - 1), "{plays:?}");
        }
    }
}

#[test]
fn what_does_not_pass_is_given_up_in_the_end() {
    let cases = [
        (Play::error(500, "api_error", "on purpose"), RefusalKind::Server),
        (Play::Truncated, RefusalKind::Unreadable),
        (Play::Stall, RefusalKind::Server),
        (Play::Status(429, vec![], String::new()), RefusalKind::RateLimited { retry_after: None }),
    ];
    for provider in BOTH {
        for (play, kind) in &cases {
            let server = LlmServer::playing(vec![play.clone()]);
            let asking = Asking::of(&server, provider, "timeout = 0.3\nretries = 2");
            let refusal = block_on(asking.ask("x")).expect_err("no reply");
            assert_eq!((refusal.kind, server.n_arrived()), (*kind, 3), "{play:?}");
            assert!(!refusal.is_for_all());
            assert_eq!(asking.client.spend().failures, 1);
        }
    }
}

#[test]
fn all_wait_as_long_as_the_server_says() {
    for provider in BOTH {
        let server = LlmServer::playing(vec![Play::RetryAfter(1), Play::text("fine")]);
        let asking = Asking::of(&server, provider, "concurrency = 1");
        block_on(async {
            let (first, second) = tokio::join!(asking.ask("one"), asking.ask("two"));
            assert_eq!((first.expect("a reply").text, second.expect("a reply").text), ("fine".into(), "fine".into()));
        });
        let arrived = server.arrived();
        assert_eq!(arrived.len(), 3);
        for later in &arrived[1..] {
            let waited = later.at - arrived[0].at;
            assert!(waited >= Duration::from_millis(950), "{waited:?}");
        }
    }
}

#[test]
fn no_server_makes_it_wait_for_ever() {
    let server = LlmServer::playing(vec![Play::RetryAfter(86_400), Play::text("fine")]);
    let asking = Asking::of(&server, LlmProvider::Openai, "");
    assert_eq!(block_on(asking.ask("one")).expect("a reply").text, "fine");
    let arrived = server.arrived();
    let waited = arrived[1].at - arrived[0].at;
    assert!(waited >= QUICK.max_retry_after && waited < Duration::from_secs(30), "{waited:?}");
}

#[test]
fn a_wrong_key_or_model_ends_everything() {
    let cases = [
        (401, "invalid_api_key", RefusalKind::Auth, "the key was refused", "key_env"),
        (403, "permission_error", RefusalKind::Auth, "the key was refused", "key_file"),
        (404, "model_not_found", RefusalKind::NotFound, "no such model", "base_url"),
        (400, "unsupported_value", RefusalKind::Unsupported, "does not take a parameter", "temperature"),
    ];
    for provider in BOTH {
        for (status, name, kind, says, hint) in cases {
            // The server repeats the key that it got.
            let server = LlmServer::playing(vec![Play::error(status, name, &format!("wrong: {KEY}, or {KEY}!"))]);
            let asking = Asking::of(&server, provider, "");
            let refusal = block_on(asking.ask("x")).expect_err("refused");
            assert_eq!((refusal.kind, refusal.is_for_all(), server.n_arrived()), (kind, true, 1));
            // Nothing is sent any more.
            assert_eq!(block_on(asking.ask("y")).expect_err("refused"), refusal);
            assert_eq!(server.n_arrived(), 1);
            let error = asking.client.error(&refusal);
            assert_eq!(error.kind, ErrorKind::Usage);
            assert!(error.to_string().contains(says) && error.hint.unwrap_or_default().contains(hint), "{error}");
            for shown in [format!("{refusal:?} {error} {error:?}"), format!("{:?}", asking.client)] {
                assert!(!shown.contains("secret"), "{shown}");
            }
        }
    }
}

#[test]
fn what_is_too_long_is_not_asked_again() {
    let told = [
        (LlmProvider::Openai, "This model's maximum context length is 8192 tokens. Please reduce the length."),
        (LlmProvider::Anthropic, "prompt is too long: 210000 tokens > 200000 maximum"),
    ];
    for (provider, message) in told {
        let server = LlmServer::playing(vec![Play::error(400, "invalid_request_error", message), Play::text("fine")]);
        let asking = Asking::of(&server, provider, "");
        let refusal = block_on(asking.ask("x")).expect_err("too long");
        assert_eq!((refusal.kind, server.n_arrived()), (RefusalKind::TooLong, 1));
        // Others are asked.
        assert_eq!(block_on(asking.ask("y")).expect("a reply").text, "fine");
    }
}

#[test]
fn no_more_than_allowed_are_under_way() {
    let server = LlmServer::start(|asked| Play::Slow(Duration::from_millis(30), asked.prompt.clone()));
    let asking = Asking::of(&server, LlmProvider::Openai, "concurrency = 5");
    let asking = &asking;
    block_on(async {
        let asks = (0..40).map(|n| async move { asking.ask(&format!("number {n}")).await.map(|reply| reply.text) });
        let replies = futures::future::join_all(asks).await;
        for (n, reply) in replies.into_iter().enumerate() {
            assert_eq!(reply.expect("a reply"), format!("number {n}"));
        }
    });
    assert_eq!((server.n_arrived(), server.most_at_once()), (40, 5));
}

#[test]
fn limits_of_a_minute_hold_on_the_wire() {
    let server = LlmServer::playing(vec![Play::text("fine")]);
    // One each 20 ms.
    let asking = Asking::of(&server, LlmProvider::Openai, "requests_per_minute = 3000");
    let asking = &asking;
    block_on(async {
        let asks = (0..20).map(|_| asking.ask("x"));
        futures::future::join_all(asks).await.into_iter().for_each(|reply| drop(reply.expect("a reply")));
    });
    let arrived = server.arrived();
    let took = arrived[19].at - arrived[0].at;
    assert!(took >= Duration::from_millis(350), "{took:?}");
}

#[test]
fn a_server_that_is_not_there_is_said_without_the_key() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let settings = settings(&format!("http://127.0.0.1:{port}"), LlmProvider::Openai, "retries = 1");
    let key = Secret::from(KEY.to_owned());
    let client = Client::new(&settings, Some(&key), QUICK).expect("a client");
    let refusal = block_on(client.complete("{}", 1)).expect_err("nobody is there");
    assert_eq!((refusal.kind, &*refusal.message), (RefusalKind::Unreachable, "no connection to the server"));
    assert_eq!(client.spend().requests, 2);
    let bad =
        Client::new(&settings, Some(&Secret::from("line\nfeed".to_owned())), QUICK).expect_err("no header").to_string();
    assert!(bad.contains("llm.key_env") && !bad.contains("feed"), "{bad}");
}

#[test]
fn redirections_do_not_take_the_key_elsewhere() {
    let other = LlmServer::playing(vec![Play::text("stolen")]);
    let target = format!("{}/chat/completions", other.base_url());
    let server = LlmServer::playing(vec![Play::Status(307, vec![("location", target)], String::new())]);
    let asking = Asking::of(&server, LlmProvider::Openai, "");
    assert_eq!(block_on(asking.ask("x")).expect_err("moved").kind, RefusalKind::Moved);
    assert_eq!(other.n_arrived(), 0);
}

/// Set in the process that is started below.
const PROXIED: &str = "CONDENSER_TEST_PROXIED";

#[test]
fn no_proxy_stands_before_a_server_on_this_machine() {
    if std::env::var(PROXIED).is_ok() {
        let server = LlmServer::playing(vec![Play::text("direct")]);
        let asking = Asking::of(&server, LlmProvider::Openai, "retries = 0");
        assert_eq!(block_on(asking.ask("x")).expect("a reply").text, "direct");
        // Any other client does go to the proxy, where nobody listens.
        let plain = block_on(async { reqwest::get(server.base_url()).await });
        assert!(plain.is_err(), "the proxy is not looked at");
        return;
    }
    // Variables of this process would be those of all tests.
    let mut again = Command::new(std::env::current_exe().expect("a program"));
    again.args(["--exact", "llm_client::no_proxy_stands_before_a_server_on_this_machine"]).env(PROXIED, "1");
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        again.env(name, "http://127.0.0.1:9");
    }
    let output = again.env_remove("no_proxy").env_remove("NO_PROXY").output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

#[test]
fn the_server_of_the_tests_tells_who_asks() {
    let server = LlmServer::start(|asked| {
        let words = match asked.words {
            Words::OpenAi => "openai",
            Words::Anthropic => "anthropic",
        };
        let stream = &asked.body["stream"];
        Play::text(format!("{words} {} {} {} {stream} {}", asked.model, asked.system, asked.prompt, asked.n))
    });
    for (provider, says) in [
        (LlmProvider::Openai, "openai the-model be terse x false 0"),
        (LlmProvider::Anthropic, "anthropic the-model be terse x false 1"),
    ] {
        assert_eq!(block_on(Asking::of(&server, provider, "").ask("x")).expect("a reply").text, says);
    }
}

/// What becomes of a question to a server that sends this, without another try.
fn sent_by(body: impl Fn() -> BoxStream<'static, Piece> + Send + Sync + 'static) -> RefusalKind {
    let route: Route = Box::new(move |_| Some(Reply { status: 200, headers: Vec::new(), body: body(), length: None }));
    let server = LlmServer::with_routes(|_| Play::Empty, vec![route]);
    let asking = Asking::of(&server, LlmProvider::Openai, "retries = 0\ntimeout = 0.5");
    block_on(async {
        let asked = tokio::time::timeout(Duration::from_mins(1), asking.ask("x")).await;
        asked.expect("it ends").expect_err("no reply").kind
    })
}

#[test]
fn no_body_is_endless() {
    let endless = || stream::repeat_with(|| Ok(Bytes::from_static(&[b' '; 1 << 14]))).boxed();
    assert_eq!(sent_by(endless), RefusalKind::Unreadable);
    let drip = || {
        let drop = async || {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Some((Ok(Bytes::from_static(b" ")), ()))
        };
        stream::unfold((), move |()| drop()).boxed()
    };
    assert_eq!(sent_by(drip), RefusalKind::Server);
}

#[test]
fn no_headers_are_endless() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("somebody comes");
        drop(socket.read(&mut [0; 4096]));
        let mut sent = socket.write_all(b"HTTP/1.1 200 OK\r\n");
        while sent.is_ok() {
            sent = socket.write_all(b"x-more: and more\r\n");
        }
    });
    let client = Client::new(&settings(&url, LlmProvider::Openai, "retries = 0"), None, QUICK).expect("a client");
    assert_eq!(block_on(client.complete("{}", 1)).expect_err("no reply").kind, RefusalKind::Server);
    drop(client);
    server.join().expect("it is left alone");
}

#[test]
fn odd_replies_are_read_or_refused() {
    let deep = "[".repeat(10_000);
    let replies = [
        deep.clone(),
        format!("{{\"choices\": {deep}"),
        format!("{{\"error\": {deep}{}}}", "]".repeat(10_000)),
        "{\"choices\": [{\"message\": 7}]}".to_owned(),
        "\u{1f}\u{8b}".to_owned(),
        String::new(),
    ];
    for reply in replies {
        for provider in BOTH {
            let server = LlmServer::playing(vec![Play::Status(200, vec![], reply.clone())]);
            let asking = Asking::of(&server, provider, "retries = 0");
            assert_eq!(block_on(asking.ask("x")).expect_err("no reply").kind, RefusalKind::Unreadable, "{reply:.20}");
            // What is packed small would be large in memory.
            assert_eq!(server.arrived()[0].header("accept-encoding"), None);
        }
    }
}

#[test]
fn a_reply_is_not_lost_for_what_stands_beside_it() {
    for usage in ["{\"T\": 12.0}", "{\"T\": -1}", "{\"T\": 18446744073709551615}", "{\"T\": \"many\"}", "[]", "null"] {
        let usage = usage.replace('T', "completion_tokens");
        let body = format!(
            "{{\"choices\": [{{\"message\": {{\"content\": \"a\\ud83e\\u0000\"}}, \"finish_reason\": \"stop\"}}], \
             \"usage\": {usage}, \"error\": false}}"
        );
        let server = LlmServer::playing(vec![Play::Status(200, vec![], body)]);
        let asking = Asking::of(&server, LlmProvider::Openai, "");
        for _ in 0..2 {
            assert_eq!(block_on(asking.ask("x")).expect("a reply").text, "a\u{fffd}\0", "{usage}");
        }
        assert_eq!((asking.client.spend().requests, asking.client.spend().failures), (2, 0));
    }
}
