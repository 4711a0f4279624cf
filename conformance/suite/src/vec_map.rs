//! A map of few entries: a vector, sorted by key.
//!
//! A step expects one or two things of one or two facts, and returns a handful. A node of a tree
//! has room for eleven entries, some of them of 200 bytes, and an exploration makes six such maps
//! for each of its operations.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Up to this many keys a linear search is faster than a binary one: most keys differ in length.
const FEW: usize = 8;

/// Entries in the order of their keys, each key once.
#[derive(Clone, PartialEq, Eq)]
pub struct VecMap<K, V>(Vec<(K, V)>);

impl<K: Ord, V> VecMap<K, V> {
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if self.0.len() > FEW {
            return self.find(key).ok().map(|found| &self.0[found].1);
        }
        self.0.iter().find(|(one, _)| one.borrow() == key).map(|(_, value)| value)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// The value that the key had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(found) => Some(std::mem::replace(&mut self.0[found].1, value)),
            Err(place) => {
                self.put(place, key, value);
                None
            }
        }
    }

    /// The value of a key that may be new.
    pub fn of(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = self.find(&key).unwrap_or_else(|place| {
            self.put(place, key, V::default());
            place
        });
        &mut self.0[place].1
    }

    pub fn retain(&mut self, mut stays: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|(key, value)| stays(key, value));
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + Clone {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    /// Where the key is, or where it belongs.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(one, _)| one.borrow().cmp(key))
    }

    /// The first entry gets the room that it takes: most maps stay at one.
    fn put(&mut self, place: usize, key: K, value: V) {
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        self.0.insert(place, (key, value));
    }

    /// Of entries with the same key the last one stays. Takes time for sorting alone, however many
    /// a hostile line has.
    fn sorted(mut entries: Vec<(K, V)>) -> Self {
        if !entries.is_sorted_by(|(left, _), (right, _)| left < right) {
            entries.reverse();
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            entries.dedup_by(|(later, _), (earlier, _)| later == earlier);
        }
        Self(entries)
    }
}

impl<K, V> Default for VecMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for VecMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::sorted(entries.into_iter().collect())
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for VecMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        Self::sorted(entries.into())
    }
}

impl<K: Ord, V> Extend<(K, V)> for VecMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.0.extend(entries);
        *self = Self::sorted(std::mem::take(&mut self.0));
    }
}

impl<K, V> IntoIterator for VecMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a VecMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(key, value)| (key, value))
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for VecMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: Serialize, V: Serialize> Serialize for VecMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for VecMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
    type Value = VecMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(VecMap::sorted(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::VecMap;

    #[test]
    fn entries_are_sorted_and_the_last_of_one_key_stays() {
        let read: VecMap<String, u8> =
            serde_json::from_str(r#"{"b": 1, "a": 2, "b": 3}"#).expect("a map");
        let mut made = VecMap::from([("a".to_owned(), 2), ("b".to_owned(), 1)]);
        assert_eq!(made.insert("b".to_owned(), 3), Some(1));
        assert_eq!((&read, read.get("b"), read.get("c")), (&made, Some(&3), None));
        made.extend([("c".to_owned(), 5), ("a".to_owned(), 4)]);
        *made.of("0".to_owned()) += 1;
        assert_eq!(serde_json::to_string(&made).expect("a map"), r#"{"0":1,"a":4,"b":3,"c":5}"#);
        assert_eq!(serde_json::to_string(&VecMap::<String, u8>::new()).expect("a map"), "{}");
    }
}
