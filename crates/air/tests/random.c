/* Random calls, also wrong ones, on two airs: random SEED CALLS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sluice.h>

static uint64_t state;

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static const char *const scenarios[] = {"mesh", "train-roam", "none", "", "/", "title = \"t\"\n", NULL, "\xff\xfe", "[", "mesh"};
static const char *const settings[] = {NULL, "", "duration = 2 s", "duration = 3 s\nseed", "x", "duration = 1 s\n\n queue.limit = 5", "\xff"};
static const char *const names[] = {"n4", "server", "passenger", "laptop", "", NULL, "\xc3(", "n0"};

static uint64_t when(sluice_air *air) {
    uint64_t now = sluice_now(air);
    switch (draw(8)) {
    case 0: return 0;
    case 1: return draw(UINT64_MAX);
    case 2: return SLUICE_NEVER;
    default: return now + draw(20000000);
    }
}

int main(int argc, char **argv) {
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    unsigned calls = argc > 2 ? atoi(argv[2]) : 1000, done = 0, refused = 0, delivered = 0;
    sluice_air *airs[2] = {NULL, NULL};
    static uint8_t bytes[4096];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)draw(256);
    for (; done < calls; done++) {
        sluice_air **air = &airs[draw(2)];
        sluice_delivery got;
        int failed = 0;
        /* Without an air one is opened, mostly. */
        uint64_t call = *air || draw(4) == 0 ? draw(30) : 0;
        switch (call) {
        case 0:
            sluice_close(*air);
            if (draw(2))
                *air = sluice_open(draw(9) ? SLUICE_VERSION : (uint32_t)draw(5), scenarios[draw(10)], draw(3), settings[draw(7)]);
            else
                *air = sluice_open(SLUICE_VERSION, draw(2) ? "mesh" : "train-roam", draw(3), "duration = 2 s");
            failed = !*air;
            break;
        case 1:
            *bytes = draw(2) ? 0x45 : (uint8_t)draw(256);
            failed = sluice_send_packet(*air, when(*air), names[draw(8)], draw(9) ? bytes : NULL, draw(1600)) < 0;
            break;
        case 2: failed = !sluice_node(*air, draw(4)); break;
        case 3: failed = !sluice_address(*air, draw(3), (uint32_t)draw(8)); break;
        case 4: (void)sluice_next(*air); (void)sluice_end(*air); (void)sluice_nodes(*air); break;
        case 5: failed = sluice_poll(*air, when(*air), draw(9) ? &got : NULL) < 0; break;
        case 6: failed = sluice_poll_packet(*air, sluice_now(*air) + draw(5000000), &got) < 0; break;
        case 7: failed = sluice_send(*air, when(*air), names[draw(8)], names[draw(8)], draw(9) ? bytes : NULL, draw(sizeof bytes), (uint8_t)draw(256)) < 0; break;
        default: {
            const char *from = sluice_node(*air, 0), *to = sluice_node(*air, 1);
            failed = sluice_send(*air, sluice_now(*air), from, to, bytes, draw(1472), (uint8_t)draw(256)) < 0;
            int arrived = sluice_poll(*air, sluice_now(*air) + 20000000, &got);
            if (arrived == 1) {
                /* All of it can be read. */
                uint64_t sum = strlen(got.from) + strlen(got.to);
                for (size_t i = 0; i < got.length; i++)
                    sum += got.bytes[i];
                delivered += sum > 0;
            }
        }
        }
        if (failed) {
            refused++;
            if (!*sluice_error()) {
                printf("an error without a word at call %u\n", done);
                return 1;
            }
        }
    }
    sluice_close(airs[0]);
    sluice_close(airs[1]);
    printf("%u calls, %u refused, %u delivered\n", done, refused, delivered);
    return 0;
}
