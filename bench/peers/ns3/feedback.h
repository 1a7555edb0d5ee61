// What ns-3's AODV makes of the MAC's news that a frame could not be delivered.
#pragma once

// From now on every frame that was given up after its last attempt breaks the link to its receiver, and nothing else
// does. ns-3 instead takes every packet that the MAC drops, also for a full queue, and only where it has the receiver in
// its list of neighbours, to which no route that a reply makes adds anybody.
void BreakEveryFailedLink();
