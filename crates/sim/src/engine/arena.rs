//! A slab: values in one vector, identified by small integers. Free slots are reused.

use std::num::NonZeroU32;

/// Identifies a value in an [`Arena`]: the slot's number plus one, so that an optional handle takes no more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(NonZeroU32);

impl Handle {
    fn of(slot: usize) -> Self {
        let number = u32::try_from(slot + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("fewer than 2^32 values live at once"))
    }

    fn slot(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Data attached to the values of an arena, with the same handles.
#[derive(Debug)]
pub(crate) struct Beside<T> {
    slots: Vec<T>,
}

impl<T> Default for Beside<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T: Copy> Beside<T> {
    pub(crate) fn set(&mut self, handle: Handle, value: T) {
        let slot = handle.slot();
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, value);
        }
        self.slots[slot] = value;
    }

    /// Returns the data attached to a value, if any were set.
    pub(crate) fn get(&self, handle: Handle) -> Option<T> {
        self.slots.get(handle.slot()).copied()
    }
}

/// Short-lived values, each identified by a [`Handle`]. The arena grows to the largest number of values at one time.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    slots: Vec<T>,
    free: Vec<Handle>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Arena<T> {
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> Handle {
        if let Some(handle) = self.free.pop() {
            self.slots[handle.slot()] = value;
            return handle;
        }
        self.slots.push(value);
        Handle::of(self.slots.len() - 1)
    }

    /// Returns a copy of the value that `handle` identifies.
    pub(crate) fn get(&self, handle: Handle) -> T {
        self.slots[handle.slot()]
    }

    /// Returns a reference to the value that `handle` identifies.
    pub(crate) fn get_ref(&self, handle: Handle) -> &T {
        &self.slots[handle.slot()]
    }

    /// Returns a mutable reference to the value that `handle` identifies.
    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut T {
        &mut self.slots[handle.slot()]
    }

    /// Removes the value and frees its slot. The handle must not be used again.
    pub(crate) fn remove(&mut self, handle: Handle) -> T {
        self.free.push(handle);
        self.slots[handle.slot()]
    }

    /// Returns the values that exist now.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let mut live = vec![true; self.slots.len()];
        self.free.iter().for_each(|handle| live[handle.slot()] = false);
        self.slots.iter().zip(live).filter_map(|(value, live)| live.then_some(value))
    }

    /// Returns the number of values that exist now.
    pub(crate) fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
