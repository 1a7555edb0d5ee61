//! A slab: values in one vector, named by small integers, slots used again.

use std::num::NonZeroU32;

/// Names a value of an [`Arena`]. It is the slot's number plus one, so that no handle takes no more room than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(NonZeroU32);

impl Handle {
    #[inline]
    fn of(slot: usize) -> Self {
        let number = u32::try_from(slot + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("fewer than 2^32 values live at once"))
    }

    #[inline]
    fn slot(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Values that live for a while and are named by a [`Handle`]. Grows to the most that ever live at once.
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
    /// Keeps a value.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> Handle {
        if let Some(handle) = self.free.pop() {
            self.slots[handle.slot()] = value;
            return handle;
        }
        self.slots.push(value);
        Handle::of(self.slots.len() - 1)
    }

    /// The value named by `handle`.
    #[inline]
    pub(crate) fn get(&self, handle: Handle) -> T {
        self.slots[handle.slot()]
    }

    /// The value named by `handle`, where it lies.
    #[inline]
    pub(crate) fn get_ref(&self, handle: Handle) -> &T {
        &self.slots[handle.slot()]
    }

    /// The value named by `handle`, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut T {
        &mut self.slots[handle.slot()]
    }

    /// Gives the slot back. The handle must not be used again.
    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) -> T {
        self.free.push(handle);
        self.slots[handle.slot()]
    }

    /// Returns the number of live values.
    pub(crate) fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
