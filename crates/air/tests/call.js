// Calls the library by an addon: call.js ADDON. Prints what echo.c prints.
const air = require(process.argv[2]);

const one = air.open("home", 1n, "duration = 2 s");
const [client, where] = air.node(one, 0n);
const [server, there] = air.node(one, 1n);
console.log(`${client} ${where} asks ${server} ${there}`);
const [end, never] = [2_000_000_000n, 2n ** 64n - 1n];
const times = [];
let [asked, ask] = [0, 0n];
for (;;) {
  const until = ask < end ? ask : never;
  const got = air.poll(one, until);
  if (!got && until === never) break;
  if (!got) {
    const payload = Buffer.alloc(8);
    payload.writeBigUInt64LE(ask);
    air.send(one, ask, client, server, payload);
    asked += 1;
    ask += 20_000_000n;
  } else if (got[1] === server) {
    air.send(one, got[0], server, client, got[2]);
  } else {
    times.push(Number(got[0] - got[2].readBigUInt64LE()));
  }
}
const mean = times.reduce((sum, time) => sum + time, 0) / times.length / 1e6;
const longest = Math.max(...times) / 1e6;
console.log(`${asked} asked, ${times.length} answered, mean ${mean.toFixed(3)} ms, longest ${longest.toFixed(3)} ms`);
