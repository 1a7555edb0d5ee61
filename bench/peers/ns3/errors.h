// How frames that overlap or are weak are lost.
#pragma once

// From now on a part of a frame is lost if and only if its signal lies less than this above noise and interference,
// whatever its rate (0 dB and less: ns-3's own error model for the rate).
void LoseBelow(double decibels);

// From now on receivers take the data of every HT, VHT and HE frame to be coded with LDPC.
void DecodeLdpc(bool coded);
