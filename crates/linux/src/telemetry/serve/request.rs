//! Requests of clients, parsed from their first bytes.

/// Maximum length of a request in bytes, including all header fields.
pub const LONGEST: usize = 4_096;

/// Requests that a client may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// `status`: one JSON array of [`Status`](crate::telemetry::status::Status).
    Status,
    /// `watch`: the same array repeatedly, one per line, until the client leaves.
    Watch,
    /// `GET /metrics` over HTTP: the metrics in Prometheus's text format.
    Metrics,
}

/// The requests that a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// Every [`Request`].
    Everything,
    /// Only [`Request::Metrics`].
    Metrics,
}

/// Reasons for refusing a request, each in the protocol of that request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Answer to a line that is not a known request.
    Line(&'static str),
    /// An HTTP error: status code, its reason, and a sentence.
    Http(u16, &'static str, &'static str),
}

/// Parses a request. `Ok(None)`: the request is not complete; any [`LONGEST`] bytes are complete or refused.
///
/// # Errors
/// The bytes are not a known request, or too many.
pub fn read(bytes: &[u8]) -> Result<Option<Request>, Refusal> {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
        let refusal = Refusal::Line("expected a line: status, watch, or an HTTP request");
        return if bytes.len() < LONGEST { Ok(None) } else { Err(refusal) };
    };
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').take(4).collect();
    match words[..] {
        [b"status"] => Ok(Some(Request::Status)),
        [b"watch"] => Ok(Some(Request::Watch)),
        [method, target, version] if version.starts_with(b"HTTP/") => {
            if !ends_with_empty_line(&bytes[end + 1..]) {
                let refusal = Refusal::Http(431, "Request Header Fields Too Large", "at most 4 kB are read");
                return if bytes.len() < LONGEST { Ok(None) } else { Err(refusal) };
            }
            http(method, target, version)
        }
        _ => Err(Refusal::Line("expected status, watch, or an HTTP request")),
    }
}

/// True if the header fields are complete (RFC 9112, section 2.1).
fn ends_with_empty_line(fields: &[u8]) -> bool {
    fields.split_inclusive(|&byte| byte == b'\n').any(|line| matches!(line, b"\n" | b"\r\n"))
}

fn http(method: &[u8], target: &[u8], version: &[u8]) -> Result<Option<Request>, Refusal> {
    // A query could ask for some of the metrics, but these are few, so all are sent.
    let path = target.split(|&byte| byte == b'?').next().unwrap_or_default();
    match (version, method, path) {
        (b"HTTP/1.0" | b"HTTP/1.1", b"GET", b"/metrics") => Ok(Some(Request::Metrics)),
        (b"HTTP/1.0" | b"HTTP/1.1", b"GET", _) => Err(Refusal::Http(404, "Not Found", "metrics are at /metrics")),
        (b"HTTP/1.0" | b"HTTP/1.1", ..) => Err(Refusal::Http(405, "Method Not Allowed", "only GET is answered")),
        _ => Err(Refusal::Http(505, "HTTP Version Not Supported", "only HTTP/1.0 and HTTP/1.1 are supported")),
    }
}

impl Refusal {
    /// Returns the bytes to send to the client.
    pub(super) fn answer(self) -> Vec<u8> {
        match self {
            Self::Line(why) => format!("error: {why}\n").into_bytes(),
            Self::Http(code, reason, why) => response(code, reason, "text/plain; charset=utf-8", &format!("{why}\n")),
        }
    }
}

/// Returns a complete HTTP response; the connection is closed after it.
pub(super) fn response(code: u16, reason: &str, kind: &str, body: &str) -> Vec<u8> {
    // RFC 9110, section 15.5.6, requires a list of the allowed methods.
    let allow = if code == 405 { "Allow: GET\r\n" } else { "" };
    let head = format!("HTTP/1.1 {code} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
    format!("{head}{allow}Connection: close\r\n\r\n{body}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(bytes: &[u8]) -> Option<u16> {
        match read(bytes) {
            Err(Refusal::Http(code, ..)) => Some(code),
            _ => None,
        }
    }

    #[test]
    fn requests_are_complete_with_their_line_or_their_empty_line() {
        assert_eq!(read(b"status"), Ok(None));
        assert_eq!(read(b"status\n"), Ok(Some(Request::Status)));
        assert_eq!(read(b"watch\r\n"), Ok(Some(Request::Watch)));
        assert_eq!(read(b"GET /metrics HTTP/1.1\r\nHost: x\r\n"), Ok(None));
        assert_eq!(read(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), Ok(Some(Request::Metrics)));
        assert_eq!(read(b"GET /metrics?x=1 HTTP/1.0\n\n"), Ok(Some(Request::Metrics)));
    }

    #[test]
    fn what_is_not_there_is_refused_in_its_own_protocol() {
        assert!(matches!(read(b"limit 5\n"), Err(Refusal::Line(_))));
        assert!(matches!(read(b"status \n"), Err(Refusal::Line(_))));
        assert!(matches!(read(b"\n"), Err(Refusal::Line(_))));
        assert_eq!(code(b"GET / HTTP/1.1\r\n\r\n"), Some(404));
        assert_eq!(code(b"POST /metrics HTTP/1.1\r\n\r\n"), Some(405));
        assert_eq!(code(b"PRI * HTTP/2.0\r\n\r\n"), Some(505));
        let mut long = b"GET /metrics HTTP/1.1\r\n".to_vec();
        long.resize(LONGEST, b'x');
        assert_eq!(code(&long), Some(431));
        assert!(matches!(read(&[b'x'; LONGEST]), Err(Refusal::Line(_))));
        let answer = String::from_utf8(Refusal::Http(405, "Method Not Allowed", "no").answer()).unwrap();
        assert!(answer.contains("\r\nAllow: GET\r\n") && answer.ends_with("\r\n\r\nno\n"), "{answer}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_come_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..LONGEST + 9)) {
            let read = read(&bytes);
            prop_assert!(bytes.len() < LONGEST || read != Ok(None));
        }
    }
}
