//! A real Chromium without a window, driven by the `DevTools` protocol over its WebSocket.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Message, protocol::WebSocketConfig};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Names under which distributions install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// The longest that a step may take before the test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where a Chromium is: as `CONDENSER_CHROMIUM` says, or on the path. `required` there means that none is a failure.
pub(crate) fn chromium() -> Option<PathBuf> {
    let wanted = std::env::var("CONDENSER_CHROMIUM").unwrap_or_default();
    if !wanted.is_empty() && wanted != "required" {
        assert!(Path::new(&wanted).is_file(), "CONDENSER_CHROMIUM names no file: {wanted}");
        return Some(wanted.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|candidate| candidate.is_file());
    assert!(found.is_some() || wanted.is_empty(), "CONDENSER_CHROMIUM is `required`, and none is on the path");
    found
}

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    last_id: u64,
    session: String,
    /// What the page reported since it was opened, oldest first.
    pub(crate) events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Browser {
    /// Starts one with a profile of its own.
    pub(crate) async fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut child = Command::new(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--force-color-profile=srgb", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Chromium starts");
        let mut told = BufReader::new(child.stderr.take().expect("stderr was piped")).lines();
        let address = told
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("DevTools listening on ")?.to_owned()))
            .expect("Chromium says where it listens");
        // A pipe that nobody empties would stop it.
        std::thread::spawn(move || told.for_each(drop));
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = tokio_tungstenite::connect_async_with_config(address, Some(config), false)
            .await
            .expect("Chromium can be talked to");
        let mut browser =
            Self { child, socket, last_id: 0, session: String::new(), events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach).await;
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({})).await;
        }
        browser
    }

    /// Calls a method of the protocol and returns its result.
    pub(crate) async fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut request = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(request.to_string())).await.expect("Chromium listens");
        loop {
            let reply = self.next().await;
            if reply["id"] == json!(id) {
                assert!(reply["error"].is_null(), "{method}: {}", reply["error"]);
                return reply["result"].clone();
            }
            self.events.push(reply);
        }
    }

    async fn next(&mut self) -> Value {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("Chromium answers");
            let message = message.expect("Chromium goes on").expect("a whole message");
            if let Message::Text(text) = message {
                return serde_json::from_str(&text).expect("JSON");
            }
        }
    }

    /// Opens a file in a window of this width and waits until it is loaded.
    pub(crate) async fn open(&mut self, file: &Path, width: u32) {
        self.resize(width).await;
        self.events.clear();
        let url = format!("file://{}", file.display());
        let told = self.call("Page.navigate", json!({ "url": url })).await;
        assert!(told["errorText"].is_null(), "{told}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next().await;
            self.events.push(event);
        }
    }

    /// Makes the window so wide.
    pub(crate) async fn resize(&mut self, width: u32) {
        let mobile = width < 600;
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Asks for `light` or `dark`.
    pub(crate) async fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// The value of an expression of JavaScript.
    pub(crate) async fn ask(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let told = self.call("Runtime.evaluate", parameters).await;
        assert!(told["exceptionDetails"].is_null(), "{expression}: {}", told["exceptionDetails"]);
        told["result"]["value"].clone()
    }

    /// Writes a picture of the whole page, or of its first `height` pixels.
    pub(crate) async fn picture(&mut self, to: &Path, from: u32, height: u32) {
        use base64::Engine as _;
        let size = self.ask("[innerWidth, document.documentElement.scrollHeight]").await;
        let whole = size[1].as_u64().unwrap_or(900);
        let height = u64::from(height).min(whole.saturating_sub(u64::from(from)).max(1));
        let clip = json!({ "x": 0, "y": from, "width": size[0], "height": height, "scale": 1 });
        let shot = self.call("Page.captureScreenshot", json!({ "captureBeyondViewport": true, "clip": clip })).await;
        let data = shot["data"].as_str().expect("a picture");
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).expect("Base64");
        std::fs::write(to, bytes).expect("a picture can be written");
    }
}
