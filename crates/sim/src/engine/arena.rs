//! A slab: values in one vector, named by small integers, slots used again.

/// Names a value of an [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

/// Values that live for a while and are named by a [`Handle`]. Grows to the most that ever live at once.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    slots: Vec<T>,
    free: Vec<u32>,
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
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = value;
            return Handle(slot);
        }
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 values live at once");
        self.slots.push(value);
        Handle(slot)
    }

    /// The value named by `handle`.
    #[inline]
    pub(crate) fn get(&self, handle: Handle) -> T {
        self.slots[handle.0 as usize]
    }

    /// The value named by `handle`, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut T {
        &mut self.slots[handle.0 as usize]
    }

    /// Gives the slot back. The handle must not be used again.
    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) -> T {
        self.free.push(handle.0);
        self.slots[handle.0 as usize]
    }

    /// How many values live.
    pub(crate) fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
