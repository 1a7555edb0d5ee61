// When the attempts at an aggregate are used up.
#pragma once

// From now on a BlockAck that reports received frames begins the count of attempts anew, as an ACK does. In ns-3 it does
// not: each seventh missing BlockAck of a station gives an aggregate up, however many arrived in between.
void CountFailuresInARow();
