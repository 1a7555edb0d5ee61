/* A client asks a server over a busy home's air, and the server answers: how long do answers take, and how many are lost?
 *
 *     cc echo.c $(pkg-config --cflags --libs sluice) -o echo && ./echo home-busy 1
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sluice.h>

#define MS UINT64_C(1000000)

static void fail(void) {
    fprintf(stderr, "error: %s\n", sluice_error());
    exit(1);
}

int main(int argc, char **argv) {
    const char *scenario = argc > 1 ? argv[1] : "home";
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *settings = argc > 3 ? argv[3] : "duration = 10 s";
    sluice_air *air = sluice_open(SLUICE_VERSION, scenario, seed, settings);
    if (!air)
        fail();
    const char *client = sluice_node(air, 0), *server = sluice_node(air, 1);
    printf("%s %s asks %s %s\n", client, sluice_address(air, 0, 4), server, sluice_address(air, 1, 4));

    unsigned asked = 0, answered = 0;
    uint64_t sum = 0, longest = 0, ask = 0;
    for (;;) {
        /* A question every 20 ms: the number and the time of the question. */
        uint64_t until = ask < sluice_end(air) ? ask : SLUICE_NEVER;
        sluice_delivery got;
        int arrived = sluice_poll(air, until, &got);
        if (arrived < 0)
            fail();
        if (!arrived && until == SLUICE_NEVER)
            break;
        if (!arrived) {
            if (sluice_send(air, ask, client, server, (const uint8_t *)&ask, sizeof ask, 0) < 0)
                fail();
            asked++;
            ask += 20 * MS;
        } else if (strcmp(got.to, server) == 0) {
            /* The bytes are valid until the next poll. */
            if (sluice_send(air, got.at_ns, server, client, got.bytes, got.length, 0) < 0)
                fail();
        } else {
            uint64_t sent;
            memcpy(&sent, got.bytes, sizeof sent);
            uint64_t took = got.at_ns - sent;
            answered++;
            sum += took;
            longest = took > longest ? took : longest;
        }
    }
    printf("%u asked, %u answered, mean %.3f ms, longest %.3f ms\n", asked, answered,
           answered ? (double)sum / answered / 1e6 : 0.0, (double)longest / 1e6);
    sluice_close(air);
    return 0;
}
