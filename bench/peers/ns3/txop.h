// How long a TXOP's frames reserve the medium.
#pragma once

// From now on a frame reserves the medium for its ACK and, if the TXOP holds another exchange like its own, for that one
// (9.2.5.2, single protection), and a TXOP ends with its last ACK. ns-3 instead reserves the whole rest of the TXOP
// (multiple protection) and ends the reservation of a TXOP that is left over by a CF-End frame, where that fits.
void ReserveForNextFrame();
