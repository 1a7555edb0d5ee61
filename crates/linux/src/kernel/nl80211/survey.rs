//! Parses the survey of the channel that a driver uses (`enum nl80211_survey_info`).

use super::reading::{ATTR_SURVEY_INFO, found};
use crate::kernel::wire::{attributes, u32_at, u64_at};
use units::Duration;

const FREQUENCY: u16 = 1;
const IN_USE: u16 = 3;
const TIME: u16 = 4;
const TIME_BUSY: u16 = 5;
const TIME_RX: u16 = 7;
const TIME_TX: u16 = 8;

/// Times of a channel in milliseconds, since the driver began to count; `None`: not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Centre of the channel, in MHz; `None` if the driver surveys no channel in use.
    pub frequency: Option<u32>,
    /// Time for which the radio was on the channel.
    pub active: Option<Duration>,
    /// Part of `active` in which the channel was sensed busy: by frames, own ones included, or by other energy.
    pub busy: Option<Duration>,
    /// Part of `active` in which the radio received.
    pub receiving: Option<Duration>,
    /// Part of `active` in which the radio sent.
    pub sending: Option<Duration>,
}

/// Parses a message if it is about the channel in use.
pub(super) fn survey(payload: &[u8]) -> Option<Survey> {
    let (mut survey, mut in_use) = (Survey::default(), false);
    for (kind, value) in attributes(found(payload, ATTR_SURVEY_INFO)?) {
        let time = || u64_at(value, 0)?.checked_mul(1_000_000).map(Duration::from_nanos);
        match kind {
            FREQUENCY => survey.frequency = u32_at(value, 0),
            IN_USE => in_use = true,
            TIME => survey.active = time(),
            TIME_BUSY => survey.busy = time(),
            TIME_RX => survey.receiving = time(),
            TIME_TX => survey.sending = time(),
            _ => {}
        }
    }
    in_use.then_some(survey)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nl80211::told;
    use crate::kernel::wire::Request;
    use proptest::prelude::*;

    const NESTED: u16 = 0x8000;

    /// Makes a message about a channel; times are in milliseconds.
    fn message(frequency: u32, is_in_use: bool, times: &[(u16, u64)]) -> Vec<u8> {
        let info = Request::new(0, 0, &[]).with(FREQUENCY, &frequency.to_ne_bytes()).with(2, &[0xa1]);
        let info = if is_in_use { info.with(IN_USE, &[]) } else { info };
        let info = times.iter().fold(info, |info, (kind, time)| info.with(*kind, &time.to_ne_bytes()));
        let nest = info.finish(0).split_off(16);
        Request::new(28, 0, &[51, 1, 0, 0]).with(ATTR_SURVEY_INFO | NESTED, &nest).finish(1)
    }

    #[test]
    fn the_channel_in_use_is_told_with_what_its_driver_counts() {
        let mut bytes = message(2_412, false, &[(TIME, 9), (TIME_BUSY, 9)]);
        assert_eq!(told(&bytes).survey, None, "the radio is not on that channel");
        bytes.extend(message(2_437, true, &[(TIME, 120_000), (TIME_BUSY, 30_500), (6, 7), (TIME_TX, 1_000)]));
        bytes.extend(message(2_462, false, &[(TIME, 9)]));
        let expected = Survey {
            frequency: Some(2_437),
            active: Some(Duration::from_secs(120)),
            busy: Some(Duration::from_millis(30_500)),
            receiving: None,
            sending: Some(Duration::from_secs(1)),
        };
        assert_eq!(told(&bytes).survey, Some(expected));
        let absurd = told(&message(2_437, true, &[(TIME, u64::MAX)])).survey.unwrap();
        assert_eq!(absurd.active, None, "a time that no clock can hold");
    }

    proptest! {
        /// One byte of a valid message is changed, or the message is cut.
        #[test]
        fn a_broken_survey_is_read_to_its_end(at in 0_usize..120, to in any::<u8>(), cut in 0_usize..120) {
            let mut bytes = message(2_437, true, &[(TIME, 120_000), (TIME_BUSY, 30_500)]);
            let at = at % bytes.len();
            bytes[at] = to;
            bytes.truncate(bytes.len().saturating_sub(cut));
            let _ = told(&bytes);
        }
    }
}
