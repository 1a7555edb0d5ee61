/* The simulated air: real packets over a simulated network, in virtual time.
 *
 * Open a scenario, push datagrams or IP packets at its real nodes, poll what arrives at others. The same scenario, seed
 * and pushes give the same deliveries to the last bit. Times are nanoseconds since the start of the run.
 *
 * Threads: one air is used by one thread at a time, and may be handed from thread to thread. Several airs may be used
 * at once, each by a thread of its own. Nothing is shared between them; the last error belongs to the thread.
 *
 * The caller guarantees that an air comes from sluice_open and is not closed, that texts end with a zero byte, and that
 * memory has the stated length. Texts are UTF-8.
 *
 * Functions that return an int return 0 (a poll 1 for a delivery), or -1 for an error: sluice_error() then gives the
 * reason, and nothing has changed. NULL for an air, a text or a result is such an error. No function ends the
 * program. */

#ifndef SLUICE_H
#define SLUICE_H

#include <stddef.h>
#include <stdint.h>

// Version of this interface: `sluice_open` checks that the header and the library have the same version.
#define SLUICE_VERSION 1

// No time: nothing more happens, or an error occurred.
#define SLUICE_NEVER UINT64_MAX

// A network that takes packets at its real nodes and returns them at their destinations.
typedef struct sluice_air sluice_air;

// A packet that has arrived. Its texts and bytes are valid until the next poll or until its air is closed.
typedef struct sluice_delivery {
  // Time at which the packet arrived.
  uint64_t at_ns;
  // Time at which the packet was pushed.
  uint64_t sent_ns;
  // Name of the node at which the packet was pushed.
  const char *from;
  // Name of the node at which the packet arrived.
  const char *to;
  // Its payload; for an IP packet, the whole packet.
  const uint8_t *bytes;
  // Number of these bytes.
  size_t length;
  // DSCP (upper six bits) and ECN field (lower two bits), which is 3 if a queue marked the packet.
  uint8_t tos;
  // Number of nodes that the packet passed, access points not counted.
  uint8_t routers;
} sluice_delivery;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library's interface.
uint32_t sluice_version(void);

// Opens a scenario: a file, or the id of a built-in one such as "home". `version` is SLUICE_VERSION. `settings` has
// keys as for `sluice run --set`, one per line ("duration = 20 s"), or is NULL. Returns NULL on an error.
struct sluice_air *sluice_open(uint32_t version,
                               const char *scenario,
                               uint64_t seed,
                               const char *settings);

// As sluice_open, but from a scenario's text.
struct sluice_air *sluice_open_text(uint32_t version,
                                    const char *scenario,
                                    uint64_t seed,
                                    const char *settings);

// Closes an air. NULL is ignored.
void sluice_close(struct sluice_air *air);

// Returns the number of the real nodes.
size_t sluice_nodes(struct sluice_air *air);

// Returns the name of a real node; `place` is its index in the scenario's order, from 0. NULL if there is no such
// node. The name is valid until the air is closed.
const char *sluice_node(struct sluice_air *air,
                        size_t place);

// Returns a real node's address of IP version 4 or 6, which sluice_send_packet uses. NULL on an error. The address is
// valid until the air is closed.
const char *sluice_address(struct sluice_air *air,
                           size_t place,
                           uint32_t version);

// Pushes a UDP datagram with this payload at the node `from` for the node `to`, or "broadcast"; on the air it has
// headers of UDP and IPv4. `tos`: DSCP (upper six bits) and ECN field. The network is simulated up to `now_ns`, which is not before
// sluice_now(); what arrives until then waits for a poll. A full queue is no error: the packet is lost.
int32_t sluice_send(struct sluice_air *air,
                    uint64_t now_ns,
                    const char *from,
                    const char *to,
                    const uint8_t *payload,
                    size_t length,
                    uint8_t tos);

// Pushes an IP packet at the node `from`. It goes to the real node with its destination address, or for multicast and
// broadcast to all real nodes. It waits in the queue for its DSCP and flow.
int32_t sluice_send_packet(struct sluice_air *air,
                           uint64_t now_ns,
                           const char *from,
                           const uint8_t *packet,
                           size_t length);

// Returns 1 with the first packet that arrives up to `until_ns` and was not polled yet, or 0 without one. The network
// is simulated only up to that arrival, so that an answer leaves at that time.
int32_t sluice_poll(struct sluice_air *air,
                    uint64_t until_ns,
                    struct sluice_delivery *delivery);

// As sluice_poll, for packets of sluice_send_packet. They come as they arrive: with their ECN field, and with their
// TTL less the number of routers that they passed. Packets whose TTL ran out are left out.
int32_t sluice_poll_packet(struct sluice_air *air,
                           uint64_t until_ns,
                           struct sluice_delivery *delivery);

// Returns the time up to which the network has been simulated; SLUICE_NEVER on an error.
uint64_t sluice_now(struct sluice_air *air);

// Returns the time of the next poll. Nothing arrives before it unless something is pushed. SLUICE_NEVER after the end
// of the run, or on an error.
uint64_t sluice_next(struct sluice_air *air);

// Returns the end of the run, the scenario's `duration`; SLUICE_NEVER on an error.
uint64_t sluice_end(struct sluice_air *air);

// Returns this thread's last error as a sentence; empty if there was none. Valid until the thread's next error.
const char *sluice_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SLUICE_H */
