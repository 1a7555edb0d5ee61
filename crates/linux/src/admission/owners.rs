//! Owners of user ids: the subordinate ids of a user (subuid(5)) count as this user.
//!
//! An agent may not look into the namespaces of programs. A user's namespaces have no ids outside the user's ranges.

use std::fs::read_to_string;

/// Ranges of subordinate ids: first id, number of ids, owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owners(Vec<(u32, u32, u32)>);

impl Owners {
    /// Reads this machine's ranges. Without such a file each id is its own owner.
    pub(super) fn read() -> Self {
        let [ranges, users] = ["/etc/subuid", "/etc/passwd"].map(|path| read_to_string(path).unwrap_or_default());
        Self::of(&ranges, &users)
    }

    fn of(ranges: &str, users: &str) -> Self {
        let number = |name: &str| {
            let mut users = users.lines().map(|line| line.split(':'));
            let of_name = users.find_map(|mut user| (user.next() == Some(name)).then(|| user.nth(1)?.parse().ok()));
            of_name.flatten().or_else(|| name.parse().ok())
        };
        let range = |line: &str| {
            let mut fields = line.trim().split(':');
            let owner = number(fields.next()?)?;
            Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?, owner))
        };
        Self(ranges.lines().filter_map(range).collect())
    }

    pub(super) fn user(&self, id: u32) -> u32 {
        let range =
            self.0.iter().find(|(first, length, _)| id.checked_sub(*first).is_some_and(|place| place < *length));
        range.map_or(id, |(.., owner)| *owner)
    }
}

#[cfg(test)]
mod tests {
    use super::Owners;

    #[test]
    fn subordinate_ids_are_of_the_user_who_has_them_by_name_or_number_and_others_of_themselves() {
        let users = "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n1234:x:77:77:::\n";
        let ranges = "anna:100000:65536\n1001:165536:65536\nanna:300000:1\n1234:400000:2\nnobody-known:500000:9\n\
                      1002:x:5\n1002:4294967295:4294967295\nbroken\n\n";
        let owners = Owners::of(ranges, users);
        for (id, user) in [
            (0, 0),
            (1_000, 1_000),
            (99_999, 99_999),
            (100_000, 1_000),
            (165_535, 1_000),
            (165_536, 1_001),
            (300_000, 1_000),
            (300_001, 300_001),
            (400_001, 77),
            (500_001, 500_001),
            (u32::MAX, 1_002),
        ] {
            assert_eq!(owners.user(id), user, "{id}");
        }
        assert_eq!(Owners::of("", ""), Owners::default());
    }
}
