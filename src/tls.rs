//! Which library encrypts connections: said once, before the first client of a store or a model is made. Knows no client.

/// Makes sure that clients can be made. What a program that embeds this library has chosen stays.
pub(crate) fn prepare() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been quicker with the same.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
}
