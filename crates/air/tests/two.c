/* Two airs of one seed give the same to one thread that uses them by turns as to two threads. A program that was compiled for
 * another version of the interface gets no air. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sluice.h>

/* A sum over the times of all deliveries. */
static uint64_t step(sluice_air *air, uint64_t now) {
    sluice_delivery got;
    uint64_t sum = 0;
    sluice_send(air, now, sluice_node(air, 0), sluice_node(air, 1), (const uint8_t *)"hello", 5, 0);
    while (sluice_poll(air, now + 10000000, &got) == 1)
        sum = sum * 31 + got.at_ns;
    return sum;
}

static sluice_air *opened(void) {
    return sluice_open(SLUICE_VERSION, "home-busy", 7, "duration = 1 s");
}

/* Whether programs of this version are refused, with the library's version as the reason. */
static int refused(uint32_t version) {
    char library[32];
    sprintf(library, "version %u", (unsigned)sluice_version());
    sluice_air *by_id = sluice_open(version, "home", 1, NULL);
    int told = strstr(sluice_error(), library) != NULL;
    sluice_air *by_text = sluice_open_text(version, "duration = \"1 s\"", 1, NULL);
    return !by_id && told && !by_text && strstr(sluice_error(), library) != NULL;
}

static void *alone(void *place) {
    sluice_air *air = opened();
    uint64_t *sum = place;
    for (uint64_t now = 0; now < 400000000; now += 20000000)
        *sum = *sum * 31 + step(air, now);
    /* An error belongs to its thread. */
    if (sluice_send(air, 0, "", "", NULL, 0, 0) == 0 || !*sluice_error())
        *sum = 0;
    sluice_close(air);
    return NULL;
}

int main(void) {
    uint64_t sums[4] = {0, 0, 0, 0};
    pthread_t threads[2];
    sluice_air *airs[2] = {opened(), opened()};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, alone, &sums[i]);
    for (uint64_t now = 0; now < 400000000; now += 20000000)
        for (int i = 0; i < 2; i++)
            sums[2 + i] = sums[2 + i] * 31 + step(airs[i], now);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        sluice_close(airs[i]);
    }
    int same = sums[0] && sums[0] == sums[1] && sums[1] == sums[2] && sums[2] == sums[3] && !*sluice_error();
    if (sluice_version() != SLUICE_VERSION || !refused(SLUICE_VERSION - 1) || !refused(SLUICE_VERSION + 1)) {
        printf("another version: %s\n", sluice_error());
        return 1;
    }
    printf("%s\n", same ? "the same" : "they differ");
    return 0;
}
