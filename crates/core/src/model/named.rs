//! Enums of which every value has one published name: declared once for tables, job files and flags. Knows no value.

/// Enums with the name of every value: `pub enum Flow { Qa = "qa", … }`. They have all their values, and are written
/// by their names.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[doc = $says:literal])* $variant:ident = $text:literal,)* })*) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        $vis enum $name { $($(#[doc = $says])* #[serde(rename = $text)] $variant,)* }
        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];
            /// The published name.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
            /// What it means, in a sentence.
            #[must_use]
            pub fn says(self) -> &'static str {
                match self { $(Self::$variant => concat!($($says),*).trim_ascii_start(),)* }
            }
        }
    )* };
}

/// The same for what users choose from: such a value is also read by its name, in job files and flags.
macro_rules! choices {
    ($($(#[$meta:meta])* $vis:vis enum $name:ident { $($values:tt)* })*) => {
        $crate::model::named::named! { $(
            $(#[$meta])*
            #[derive(serde::Deserialize)]
            #[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
            #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
            $vis enum $name { $($values)* }
        )* }
    };
}

pub(super) use choices;
pub use named;
