//! Large values that a command still holds when it ends.
//!
//! They are not freed where the process ends with the command: to free a large cluster piece by piece would take as long as a limit may
//! be exceeded. A process that goes on after the command frees them.

use std::ops::{Deref, DerefMut};

use crate::output::buffer;

/// A value that is freed only where the process goes on.
#[derive(Debug)]
pub(crate) struct Unfreed<T>(Option<T>);

impl<T> Unfreed<T> {
    /// Holds a value.
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> Drop for Unfreed<T> {
    fn drop(&mut self) {
        leave(self.0.take());
    }
}

impl<T> Deref for Unfreed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl<T> DerefMut for Unfreed<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is there until it is dropped")
    }
}

/// Leaves a value behind, which is freed only where the process goes on.
pub(crate) fn leave<T>(value: T) {
    if !buffer::is_on() {
        std::mem::forget(value);
    }
}
