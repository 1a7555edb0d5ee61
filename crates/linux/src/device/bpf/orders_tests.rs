//! Tries all orders in which steps of a queue and of completions on other processors can follow each other. Covers the
//! part of `flight.h`, `below.h` and `fifo.h` that runs without a lock; each step accesses shared memory once.
//!
//! Small on purpose: two entries for packets below, one bucket of two ways, and fewer addresses than packets, so that
//! all are used again. Memory is sequentially consistent here. In BPF each atomic operation that returns a value is
//! fully ordered, and these stand between the accesses whose order matters.

use std::collections::HashSet;

const PACKETS: u8 = 4;
const ADDRESSES: u8 = 2;
const PLACES: usize = 2;
const WAYS: usize = 2;
/// Same meaning as `NOT_SAID` of `flight.h`.
const NOT_SAID: u8 = 255;

/// A step that is deliberately wrong, to see that the search finds the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// A completion is declared whole before its times are written.
    DoneFirst,
    /// The queue gives up a packet without a comparison.
    GivesUpBlindly,
    /// A packet that is being completed counts as lost.
    GivesUpTaken,
    /// A completion takes a flight without a comparison.
    CompletesBlindly,
    /// An address leaves the table before its flight is read.
    LeavesFirst,
}

/// Shared memory of a packet below. A time is the number of its packet; zero means no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Flight {
    id: u8,
    handed: u8,
    service: u8,
    done: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Way {
    id: u8,
    flight: usize,
}

/// Next step of the queue; only the queue runs under its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Next {
    Anything,
    Say { address: u8 },
    Look { address: u8, way: usize },
    Enter { address: u8, way: usize },
    Point { address: u8, way: usize },
    Count,
    Read { done: u8 },
    GiveUp { id: u8 },
}

/// Next step of a completion, with the values that it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Then {
    Look { way: usize },
    Find { way: usize },
    Leave { way: usize, flight: usize },
    Take { flight: usize },
    Clear { flight: usize },
    Serve { flight: usize },
    Finish { flight: usize },
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Completion {
    packet: u8,
    address: u8,
    then: Then,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    flights: [Flight; PLACES],
    ways: [Way; WAYS],
    next: Next,
    handed: u8,
    settled: u8,
    completed: Vec<u8>,
    lost: Vec<u8>,
    /// Packets that the device has, with their addresses.
    below: Vec<(u8, u8)>,
    completions: Vec<Completion>,
}

impl State {
    fn new() -> Self {
        let (flights, ways, completed, lost, below, completions) = Default::default();
        Self { flights, ways, next: Next::Anything, handed: 0, settled: 0, completed, lost, below, completions }
    }

    fn is_free(&self, address: u8) -> bool {
        let taken = self.below.iter().map(|one| one.1).chain(self.completions.iter().map(|one| one.address));
        taken.into_iter().all(|other| other != address)
    }

    fn newest(&mut self) -> &mut Flight {
        &mut self.flights[usize::from(self.handed - 1) % PLACES]
    }

    fn oldest(&mut self) -> &mut Flight {
        &mut self.flights[usize::from(self.settled) % PLACES]
    }

    fn with(&self, next: Next) -> Self {
        Self { next, ..self.clone() }
    }

    /// Returns the states that can follow by a step of the queue.
    fn queue(&self, wrong: Wrong) -> Result<Vec<Self>, String> {
        let mut then = Vec::new();
        let below = usize::from(self.handed - self.settled);
        match self.next {
            Next::Anything => {
                if self.handed < PACKETS && below < PLACES {
                    for address in (1..=ADDRESSES).filter(|address| self.is_free(*address)) {
                        let mut new = self.with(Next::Say { address });
                        new.handed += 1;
                        *new.newest() = Flight { id: NOT_SAID, handed: new.handed, ..Flight::default() };
                        then.push(new);
                    }
                }
                if below > 0 {
                    let done = self.clone().oldest().done;
                    then.push(self.with(if done == 0 { Next::Count } else { Next::Read { done } }));
                }
            }
            Next::Say { address } => {
                let mut new = self.with(Next::Look { address, way: 0 });
                new.newest().id = address;
                then.push(new);
            }
            Next::Look { address, way } => then.push(match self.ways.get(way) {
                // All ways are taken, so the packet's completion will be missed.
                None => self.goes_below(address),
                Some(found) if found.id == 0 => self.with(Next::Enter { address, way }),
                Some(found) if found.id == address => self.with(Next::Point { address, way }),
                Some(_) => self.with(Next::Look { address, way: way + 1 }),
            }),
            Next::Enter { address, way } if self.ways[way].id == 0 => {
                let mut new = self.with(Next::Point { address, way });
                new.ways[way].id = address;
                then.push(new);
            }
            Next::Enter { address, way } => then.push(self.with(Next::Look { address, way: way + 1 })),
            Next::Point { address, way } => {
                let mut new = self.goes_below(address);
                new.ways[way].flight = usize::from(self.handed - 1) % PLACES;
                then.push(new);
            }
            Next::Read { done } => {
                let mut new = self.with(Next::Anything);
                let flight = *new.oldest();
                new.settled += 1;
                if [flight.service, flight.handed, done] != [new.settled; 3] {
                    return Err(format!("packet {} is settled with the times of {flight:?}, {done}", new.settled));
                }
                then.push(new);
            }
            Next::Count => {
                // The packet is not overdue.
                then.push(self.with(Next::Anything));
                let id = self.clone().oldest().id;
                if id != 0 || wrong == Wrong::GivesUpTaken {
                    then.push(self.with(Next::GiveUp { id }));
                }
            }
            Next::GiveUp { id } => {
                let mut new = self.with(Next::Anything);
                if new.oldest().id == id || wrong == Wrong::GivesUpBlindly {
                    new.oldest().id = 0;
                    new.settled += 1;
                    new.lost.push(new.settled);
                }
                then.push(new);
            }
        }
        Ok(then)
    }

    /// Returns the state in which the last packet is handed down completely.
    fn goes_below(&self, address: u8) -> Self {
        let mut new = self.with(Next::Anything);
        new.below.push((new.handed, address));
        new
    }

    /// Returns the states that follow if the device is done with a packet, and the program sees this or not.
    fn frees(&self) -> Vec<Self> {
        let one = |index: usize| {
            let mut unseen = self.clone();
            let (packet, address) = unseen.below.remove(index);
            let mut seen = unseen.clone();
            seen.completions.push(Completion { packet, address, then: Then::Look { way: 0 } });
            [unseen, seen]
        };
        (0..self.below.len()).flat_map(one).collect()
    }

    /// Returns the state after a completion's next step.
    fn completes(&self, index: usize, wrong: Wrong) -> Result<Self, String> {
        let mut new = self.clone();
        let Completion { packet, address, then } = new.completions[index];
        let next = match then {
            Then::Look { way } => match self.ways.get(way) {
                None => None,
                Some(found) if found.id == address && wrong == Wrong::LeavesFirst => {
                    new.ways[way].id = 0;
                    Some(Then::Find { way })
                }
                Some(found) if found.id == address => Some(Then::Find { way }),
                Some(_) => Some(Then::Look { way: way + 1 }),
            },
            Then::Find { way } => {
                let flight = self.ways[way].flight;
                Some(if wrong == Wrong::LeavesFirst { Then::Take { flight } } else { Then::Leave { way, flight } })
            }
            Then::Leave { way, flight } => {
                new.ways[way].id = 0;
                Some(Then::Take { flight })
            }
            Then::Take { flight } if wrong == Wrong::CompletesBlindly => {
                (self.flights[flight].id == address).then_some(Then::Clear { flight })
            }
            Then::Take { flight } if self.flights[flight].id == address => {
                new.flights[flight].id = 0;
                Some(if wrong == Wrong::DoneFirst { Then::Finish { flight } } else { Then::Serve { flight } })
            }
            Then::Take { .. } if self.lost.contains(&packet) => None,
            Then::Take { .. } => return Err(format!("the completion of packet {packet} finds another")),
            Then::Clear { flight } => {
                new.flights[flight].id = 0;
                Some(Then::Serve { flight })
            }
            Then::Serve { flight } => {
                new.flights[flight].service = self.flights[flight].handed;
                Some(if wrong == Wrong::DoneFirst { Then::Count } else { Then::Finish { flight } })
            }
            Then::Finish { flight } => {
                new.flights[flight].done = packet;
                Some(if wrong == Wrong::DoneFirst { Then::Serve { flight } } else { Then::Count })
            }
            Then::Count => {
                new.completed.push(packet);
                None
            }
        };
        match next {
            Some(then) => new.completions[index].then = then,
            None => {
                new.completions.remove(index);
            }
        }
        // The order of ended completions makes no difference.
        new.completed.sort_unstable();
        Ok(new)
    }

    /// Checks what must be true in each state.
    fn check(&self) -> Result<(), String> {
        let ended = self.completed.len() + self.lost.len();
        if ended > usize::from(self.handed) {
            return Err(format!("{ended} of {} packets have ended: credit would never come back", self.handed));
        }
        if let Some(both) = self.lost.iter().find(|one| self.completed.contains(one)) {
            return Err(format!("packet {both} is completed and lost"));
        }
        let is_quiet = self.next == Next::Anything && self.completions.is_empty();
        let oldest = *self.clone().oldest();
        if is_quiet && self.handed > self.settled && oldest.done == 0 && oldest.id == 0 {
            return Err(format!("packet {} will never be settled", self.settled + 1));
        }
        if is_quiet && self.settled == PACKETS && ended != usize::from(PACKETS) {
            return Err(format!("{ended} of {PACKETS} packets are accounted for"));
        }
        Ok(())
    }
}

/// Returns the number of reachable states, or the fault of one.
fn search(wrong: Wrong) -> Result<usize, String> {
    let mut seen = HashSet::from([State::new()]);
    let mut open = vec![State::new()];
    while let Some(state) = open.pop() {
        state.check()?;
        let mut then = state.queue(wrong)?;
        then.extend(state.frees());
        for index in 0..state.completions.len() {
            then.push(state.completes(index, wrong)?);
        }
        open.extend(then.into_iter().filter(|new| seen.insert(new.clone())));
    }
    Ok(seen.len())
}

#[test]
fn in_all_orders_of_their_steps_each_packet_is_completed_or_given_up_once_with_its_own_times() {
    let states = search(Wrong::Nothing).unwrap();
    println!("{states} states");
    assert!(states > 10_000, "{states}");
}

#[test]
fn the_search_finds_what_is_wrong_with_steps_done_otherwise() {
    use Wrong::{CompletesBlindly, DoneFirst, GivesUpBlindly, GivesUpTaken, LeavesFirst};
    for wrong in [DoneFirst, GivesUpBlindly, GivesUpTaken, CompletesBlindly, LeavesFirst] {
        let found = search(wrong);
        println!("{wrong:?}: {found:?}");
        assert!(found.is_err(), "{wrong:?} passes");
    }
}
