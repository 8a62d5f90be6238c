//! The trusted core of podreach.
