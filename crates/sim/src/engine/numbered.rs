//! Typed numbers of nodes, flows, ports and the like, and lists that only numbers of the right type can index.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The number of an entry in a [`List`]: its index, from 0.
pub(crate) trait Number: Copy {
    fn at(place: usize) -> Self;

    fn place(self) -> usize;
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $Name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $Name(u32);

        impl Number for $Name {
            fn at(place: usize) -> Self {
                Self(u32::try_from(place).expect("fewer than 2^32 of a kind"))
            }

            fn place(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $Name {
            fn from(number: u32) -> Self {
                Self(number)
            }
        }

        impl From<$Name> for u32 {
            fn from(number: $Name) -> Self {
                number.0
            }
        }
    )*};
}

numbers! {
    /// Number of a node. It is also the node's address.
    NodeId;
    /// Number of a flow.
    FlowId;
    /// Number of one direction of a wired link.
    WireId;
    /// Number of a TCP connection's slot.
    Slot;
    /// Number of a port at its node.
    PortId;
}

/// A list indexed by `N`.
#[derive(Debug)]
pub(crate) struct List<N, T> {
    things: Vec<T>,
    numbers: PhantomData<N>,
}

impl<N, T> Default for List<N, T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<N, T> From<Vec<T>> for List<N, T> {
    fn from(things: Vec<T>) -> Self {
        Self { things, numbers: PhantomData }
    }
}

impl<N: Number, T> List<N, T> {
    pub(crate) fn push(&mut self, thing: T) -> N {
        self.things.push(thing);
        N::at(self.things.len() - 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    pub(crate) fn get_mut(&mut self, number: N) -> Option<&mut T> {
        self.things.get_mut(number.place())
    }

    /// Returns all entries, in order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.things.iter()
    }

    /// Returns all entries, in order, mutable.
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.things.iter_mut()
    }

    /// Returns all numbers, in order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = N> + use<N, T> {
        (0..self.things.len()).map(N::at)
    }
}

impl<'l, N: Number, T> IntoIterator for &'l List<N, T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<N: Number, T> Index<N> for List<N, T> {
    type Output = T;

    fn index(&self, number: N) -> &T {
        &self.things[number.place()]
    }
}

impl<N: Number, T> IndexMut<N> for List<N, T> {
    fn index_mut(&mut self, number: N) -> &mut T {
        &mut self.things[number.place()]
    }
}
