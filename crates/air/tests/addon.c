/* Node has no calls of C by itself: this addon gives it four of the library. */
#define NAPI_VERSION 6
#include <node_api.h>
#include <sluice.h>

#define ARGUMENTS(n) \
    napi_value a[n], given = NULL; \
    size_t count = n; \
    napi_get_cb_info(env, info, &count, a, NULL, NULL)

static napi_value failed(napi_env env) {
    napi_throw_error(env, NULL, sluice_error());
    return NULL;
}

static sluice_air *air(napi_env env, napi_value value) {
    void *air = NULL;
    napi_get_value_external(env, value, &air);
    return air;
}

static uint64_t time_of(napi_env env, napi_value value) {
    uint64_t time = 0;
    bool whole;
    napi_get_value_bigint_uint64(env, value, &time, &whole);
    return time;
}

static const char *text(napi_env env, napi_value value, char *into) {
    napi_get_value_string_utf8(env, value, into, 200, NULL);
    return into;
}

static void closed(napi_env env, void *air, void *hint) {
    (void)env, (void)hint;
    sluice_close(air);
}

/* open(scenario, seed, settings) */
static napi_value sluice_js_open(napi_env env, napi_callback_info info) {
    ARGUMENTS(3);
    char scenario[200], settings[200];
    sluice_air *air = sluice_open(SLUICE_VERSION, text(env, a[0], scenario), time_of(env, a[1]), text(env, a[2], settings));
    if (!air)
        return failed(env);
    napi_create_external(env, air, closed, NULL, &given);
    return given;
}

/* send(air, at, from, to, payload) */
static napi_value sluice_js_send(napi_env env, napi_callback_info info) {
    ARGUMENTS(5);
    char from[200], to[200];
    void *bytes;
    size_t length;
    napi_get_buffer_info(env, a[4], &bytes, &length);
    int sent = sluice_send(air(env, a[0]), time_of(env, a[1]), text(env, a[2], from), text(env, a[3], to), bytes, length, 0);
    return sent < 0 ? failed(env) : given;
}

/* poll(air, until): undefined, or an array of time, destination and payload. */
static napi_value sluice_js_poll(napi_env env, napi_callback_info info) {
    ARGUMENTS(2);
    sluice_delivery got;
    int arrived = sluice_poll(air(env, a[0]), time_of(env, a[1]), &got);
    if (arrived < 0)
        return failed(env);
    if (!arrived)
        return given;
    napi_value parts[3];
    napi_create_bigint_uint64(env, got.at_ns, &parts[0]);
    napi_create_string_utf8(env, got.to, NAPI_AUTO_LENGTH, &parts[1]);
    napi_create_buffer_copy(env, got.length, got.bytes, NULL, &parts[2]);
    napi_create_array_with_length(env, 3, &given);
    for (uint32_t i = 0; i < 3; i++)
        napi_set_element(env, given, i, parts[i]);
    return given;
}

/* node(air, place): name and address. */
static napi_value sluice_js_node(napi_env env, napi_callback_info info) {
    ARGUMENTS(2);
    uint64_t place = time_of(env, a[1]);
    const char *told[2] = {sluice_node(air(env, a[0]), place), sluice_address(air(env, a[0]), place, 4)};
    napi_create_array_with_length(env, 2, &given);
    for (uint32_t i = 0; i < 2; i++) {
        napi_value part;
        if (!told[i])
            return failed(env);
        napi_create_string_utf8(env, told[i], NAPI_AUTO_LENGTH, &part);
        napi_set_element(env, given, i, part);
    }
    return given;
}

NAPI_MODULE_INIT() {
    const struct { const char *name; napi_callback call; } all[] = {
        {"open", sluice_js_open}, {"send", sluice_js_send}, {"poll", sluice_js_poll}, {"node", sluice_js_node}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        napi_value call;
        napi_create_function(env, NULL, NAPI_AUTO_LENGTH, all[i].call, NULL, &call);
        napi_set_named_property(env, exports, all[i].name, call);
    }
    return exports;
}
