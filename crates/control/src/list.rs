//! Parameters with several values.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// List of up to `MOST` values in a table of fixed size. In files it is written as a list.
#[derive(Clone, Copy)]
pub struct List<T, const MOST: usize> {
    values: [T; MOST],
    count: usize,
}

impl<T: Copy + Default, const MOST: usize> List<T, MOST> {
    /// Makes a list of `values`; `None` if there are more than `MOST`.
    pub fn new(values: &[T]) -> Option<Self> {
        let mut list = Self { values: [T::default(); MOST], count: values.len() };
        list.values.get_mut(..values.len())?.copy_from_slice(values);
        Some(list)
    }

    /// Adds a value; false if the table is full.
    pub fn push(&mut self, value: T) -> bool {
        let Some(place) = self.values.get_mut(self.count) else { return false };
        *place = value;
        self.count += 1;
        true
    }
}

impl<T: Copy + Default, const MOST: usize> Default for List<T, MOST> {
    fn default() -> Self {
        Self { values: [T::default(); MOST], count: 0 }
    }
}

impl<T, const MOST: usize> Deref for List<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..self.count]
    }
}

impl<T, const MOST: usize> DerefMut for List<T, MOST> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[..self.count]
    }
}

impl<T: PartialEq, const MOST: usize> PartialEq for List<T, MOST> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug, const MOST: usize> fmt::Debug for List<T, MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Serialize, const MOST: usize> Serialize for List<T, MOST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Deserialize<'de> + Copy + Default, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Few<T, const MOST: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de> + Copy + Default, const MOST: usize> Visitor<'de> for Few<T, MOST> {
            type Value = List<T, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
                let mut list = List::default();
                while let Some(value) = values.next_element()? {
                    if !list.push(value) {
                        return Err(A::Error::invalid_length(list.count + 1, &self));
                    }
                }
                Ok(list)
            }
        }

        deserializer.deserialize_seq(Few(PhantomData))
    }
}

#[cfg(feature = "schema")]
mod schema {
    extern crate alloc;

    use super::List;
    use alloc::borrow::Cow;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    impl<T: JsonSchema, const MOST: usize> JsonSchema for List<T, MOST> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "List".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "array", "items": generator.subschema_for::<T>(), "maxItems": MOST })
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        let list = List::<f64, 3>::new(&[0.5, 2.0]).unwrap();
        assert_eq!(serde_json::to_string(&list).unwrap(), "[0.5,2.0]");
        assert_eq!(serde_json::from_str::<List<f64, 3>>("[0.5, 2]").unwrap(), list);
        assert_ne!(serde_json::from_str::<List<f64, 3>>("[0.5]").unwrap(), list);
        assert!(List::<f64, 3>::default().is_empty());
    }

    #[test]
    fn no_list_is_longer_than_its_table() {
        assert_eq!(List::<u8, 2>::new(&[1, 2, 3]), None);
        let refused = serde_json::from_str::<List<u8, 2>>("[1, 2, 3]").unwrap_err().to_string();
        assert!(refused.starts_with("invalid length 3, expected a list of at most 2"), "{refused}");
        let nested = serde_json::from_str::<List<List<u8, 2>, 2>>("[[1], [1, 2, 3]]").unwrap_err().to_string();
        assert!(nested.starts_with("invalid length 3, expected a list of at most 2"), "{nested}");
    }
}
