import { scryptSync } from "node:crypto";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertThrows,
} from "@std/assert";
import {
  AuthError,
  hashPassword,
  needsRehash,
  verifyPassword,
} from "@quartet/kit/auth";

/** The cheapest parameters. */
const CHEAP = { ln: 10, r: 1 };

Deno.test("verifyPassword() accepts only the password of the hash", async () => {
  const hash = await hashPassword("correct horse", CHEAP);
  assertMatch(
    hash,
    /^\$scrypt\$ln=10,r=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
  );
  assertEquals(await verifyPassword("correct horse", hash), true);
  for (
    const wrong of ["correct hors", "correct horse ", "Correct horse", "", "\0"]
  ) {
    assertEquals(await verifyPassword(wrong, hash), false, wrong);
  }
  assertNotEquals(await hashPassword("correct horse", CHEAP), hash);
});

Deno.test("hashPassword() uses OWASP's recommendation by default", async () => {
  const hash = await hashPassword("secret");
  assert(hash.startsWith("$scrypt$ln=17,r=8,p=1$"));
  assertEquals(await verifyPassword("secret", hash), true);
  assertEquals(await verifyPassword("Secret", hash), false);
  assertEquals(needsRehash(hash), false);
});

Deno.test("verifyPassword() accepts the hash of RFC 7914, section 12, and one by passlib", async () => {
  const rfc = btoa(
    String.fromCharCode(
      ...Uint8Array.fromHex(
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2" +
          "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887",
      ),
    ),
  ).replace(/=+$/, "");
  const salt = btoa("SodiumChloride").replace(/=+$/, "");
  const hashes = {
    pleaseletmein: `$scrypt$ln=14,r=8,p=1$${salt}$${rfc}`,
    password:
      "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
  };
  for (const [password, hash] of Object.entries(hashes)) {
    assertEquals(await verifyPassword(password, hash), true);
    assertEquals(await verifyPassword(`${password}!`, hash), false);
  }
});

Deno.test("Different Unicode spellings of a password are equal", async () => {
  for (
    const [kept, typed] of [
      ["caf\u00e9", "cafe\u0301"],
      ["\ufb01sh", "fish"],
      ["\uff21\uff22\uff23", "ABC"],
      ["\u212b", "\u00c5"],
    ] as const
  ) {
    const hash = await hashPassword(kept, CHEAP);
    assertEquals(await verifyPassword(typed, hash), true);
    assertEquals(await verifyPassword(kept, hash), true);
  }
  const hash = await hashPassword("stra\u00dfe", CHEAP);
  assertEquals(await verifyPassword("strasse", hash), false);
});

Deno.test("A password may have 1 to 1,024 bytes", async () => {
  for (const good of ["x".repeat(1_024), "é".repeat(512), "💥".repeat(256)]) {
    const hash = await hashPassword(good, CHEAP);
    assertEquals(await verifyPassword(good, hash), true);
    assertEquals(await verifyPassword(`${good}x`, hash), false);
  }
  const long = [
    "x".repeat(1_025),
    "x".repeat(10_000_000),
    "é".repeat(513),
    // NFKC turns each of these characters into eighteen.
    "\ufdfa".repeat(60),
  ];
  const hash = await hashPassword("x", CHEAP);
  for (const password of long) {
    const error = await assertRejects(
      () => hashPassword(password, CHEAP),
      TypeError,
      "Cannot hash password: it must be a string of 1 to 1024 bytes, received a longer one",
    );
    assert(error.message.length < 200);
    assertEquals(await verifyPassword(password, hash), false);
  }
  await assertRejects(
    () => hashPassword("", CHEAP),
    TypeError,
    "received an empty one",
  );
  assertEquals(await verifyPassword("", hash), false);
});

Deno.test("A password must be a string", async () => {
  const hash = await hashPassword("1", CHEAP);
  const values: [unknown, string][] = [
    [undefined, "undefined"],
    [null, "null"],
    [1, "a number"],
    [1n, "a bigint"],
    [true, "a boolean"],
    [["1"], "an array"],
    [{ toString: () => "1" }, "an object"],
    [Symbol("1"), "a symbol"],
    [() => "1", "a function"],
  ];
  for (const [value, kind] of values) {
    assertEquals(await verifyPassword(value, hash), false);
    await assertRejects(
      () => hashPassword(value as never, CHEAP),
      TypeError,
      `Cannot hash password: it must be a string of 1 to 1024 bytes, received ${kind}`,
    );
  }
});

Deno.test("An invalid password doesn't match, even if an empty one was hashed", async () => {
  const salt = new Uint8Array(16);
  const key = scryptSync("", salt, 32, { N: 1_024, r: 1, p: 1 });
  const encode = (bytes: Uint8Array) => bytes.toBase64({ omitPadding: true });
  const hash = `$scrypt$ln=10,r=1,p=1$${encode(salt)}$${encode(key)}`;
  for (const password of ["", null, undefined, {}, "x".repeat(2_000)]) {
    assertEquals(await verifyPassword(password, hash), false);
  }
});

Deno.test("No password matches an unknown user", async () => {
  for (const hash of [null, undefined]) {
    for (const password of ["", "secret", "x".repeat(2_000), null]) {
      assertEquals(await verifyPassword(password, hash, CHEAP), false);
    }
  }
});

Deno.test("An invalid hash is an error that says why without showing the hash", async () => {
  const SALT = "aM15713r3Xsvxbi31lqr1Q";
  const HASH = "nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E";
  const good = (params = "ln=10,r=1,p=1", salt = SALT, hash = HASH) =>
    `$scrypt$${params}$${salt}$${hash}`;
  assertEquals(await verifyPassword("x", good()), false);
  const wrong: [unknown, string][] = [
    [5, "the hash must be a string, received 5"],
    [{}, "the hash must be a string, received an object"],
    ["", "the hash must begin with $scrypt$"],
    [HASH, "the hash must begin with $scrypt$"],
    [`$2b$12$${HASH}`, "the hash must begin with $scrypt$"],
    [`$argon2id$v=19$m=65536,t=3,p=4$${SALT}$${HASH}`, "begin with $scrypt$"],
    [` ${good()}`, "the hash must begin with $scrypt$"],
    ["$scrypt$", "the hash must have parameters, a salt and a hash"],
    [`$scrypt$ln=10,r=1,p=1$${SALT}`, "have parameters, a salt and a hash"],
    [`${good()}$`, "the hash must have parameters, a salt and a hash"],
    [good() + "A".repeat(1e7), "have parameters, a salt and a hash"],
    [good(""), "the hash must have parameters such as ln=17,r=8,p=1"],
    [good("ln=10,r=1"), "have parameters such as"],
    [good("r=1,ln=10,p=1"), "have parameters such as"],
    [good("ln=10,r=1,p=1,x=1"), "have parameters such as"],
    [good("ln=010,r=1,p=1"), "have parameters such as"],
    [good("ln=1e1,r=1,p=1"), "have parameters such as"],
    [good("ln=-1,r=1,p=1"), "have parameters such as"],
    [good("ln=10,r=0,p=1"), "have parameters such as"],
    [good("ln=100,r=1,p=1"), "have parameters such as"],
    [good("ln=9,r=1,p=1"), "the hash's ln must be an integer from 10 to 19"],
    [good("ln=20,r=8,p=1"), "the hash's ln must be an integer from 10 to 19"],
    [good("ln=63,r=8,p=1"), "the hash's ln must be an integer from 10 to 19"],
    [good("ln=10,r=33,p=1"), "the hash's r must be an integer from 1 to 32"],
    [good("ln=10,r=1,p=17"), "the hash's p must be an integer from 1 to 16"],
    [good("ln=19,r=9,p=1"), "must ask for at most 512 MiB"],
    [good("ln=19,r=8,p=3"), "and 8 times the work of the default"],
    [good("ln=16,r=1,p=1"), "with ln below 16 × r"],
    [good(undefined, ""), "a salt of 8 to 64 bytes in base64 without padding"],
    [good(undefined, "AAAA"), "have a salt of 8 to 64 bytes"],
    [good(undefined, "A".repeat(88)), "have a salt of 8 to 64 bytes"],
    [good(undefined, `${SALT}==`), "have a salt of 8 to 64 bytes"],
    [good(undefined, SALT.slice(0, -1) + "R"), "have a salt of 8 to 64 bytes"],
    [good(undefined, undefined, ""), "have a hash of 16 to 64 bytes"],
    [good(undefined, undefined, "A".repeat(20)), "a hash of 16 to 64 bytes"],
    [good(undefined, undefined, "A".repeat(88)), "a hash of 16 to 64 bytes"],
    [good(undefined, undefined, `${HASH}=`), "have a hash of 16 to 64 bytes"],
    [good(undefined, undefined, `${HASH}\n`), "have a hash of 16 to 64 bytes"],
    [good(undefined, undefined, `_${HASH}`), "have a hash of 16 to 64 bytes"],
  ];
  for (const [hash, problem] of wrong) {
    const error = await assertRejects(
      () => verifyPassword("x", hash as string),
      TypeError,
      problem,
    );
    assert(error.message.startsWith("Cannot verify password: "));
    assert(!error.message.includes(SALT.slice(0, 4)), error.message);
    assert(!error.message.includes(HASH.slice(0, 4)), error.message);
    const other = assertThrows(
      () => needsRehash(hash as string),
      TypeError,
      problem,
    );
    assert(
      other.message.startsWith(
        "Cannot check whether a password needs a new hash: ",
      ),
    );
  }
});

Deno.test("needsRehash() returns true for hashes with other parameters", async () => {
  const hash = await hashPassword("x", CHEAP);
  assertEquals(needsRehash(hash), true);
  assertEquals(needsRehash(hash, CHEAP), false);
  assertEquals(needsRehash(hash, { ln: 11, r: 1 }), true);
  assertEquals(needsRehash(hash, { ln: 10, r: 2 }), true);
  assertEquals(needsRehash(hash, { ...CHEAP, p: 2 }), true);
  const shortSalt = "$scrypt$ln=10,r=1,p=1$AAAAAAAAAAA$" + "A".repeat(43);
  assertEquals(needsRehash(shortSalt, CHEAP), true);
  const shortHash = `$scrypt$ln=10,r=1,p=1$${"A".repeat(22)}$${"A".repeat(22)}`;
  assertEquals(needsRehash(shortHash, CHEAP), true);
});

Deno.test("hashPassword() limits the cost of its parameters", async () => {
  for (
    const [options, problem] of [
      [{ ln: 9 }, "ln must be an integer from 10 to 19, received 9"],
      [{ ln: 20 }, "ln must be an integer from 10 to 19, received 20"],
      [{ ln: 12.5 }, "ln must be an integer from 10 to 19, received 12.5"],
      [{ ln: NaN }, "ln must be an integer from 10 to 19, received NaN"],
      [{ ln: "17" }, 'ln must be an integer from 10 to 19, received "17"'],
      [{ r: 0 }, "r must be an integer from 1 to 32, received 0"],
      [{ p: Infinity }, "p must be an integer from 1 to 16, received Infinity"],
      [{ ln: 19, r: 16 }, "received ln=19,r=16,p=1"],
      [{ ln: 17, r: 1 }, "with ln below 16 × r; received ln=17,r=1,p=1"],
    ] as const
  ) {
    await assertRejects(
      () => hashPassword("x", options as never),
      TypeError,
      `Cannot hash password: `,
    ).then(({ message }) => assert(message.includes(problem), message));
    await assertRejects(
      () => verifyPassword("x", null, options as never),
      TypeError,
      problem,
    );
    assertThrows(() => needsRehash("", options as never), TypeError, problem);
  }
});

Deno.test("Password checks wait in order up to a limit, also for unknown users and invalid passwords", async () => {
  const hash = await hashPassword("right", CHEAP);
  const asks = [
    () => verifyPassword("right", hash),
    () => verifyPassword("wrong", hash),
    () => verifyPassword("right", null, CHEAP),
    () => verifyPassword("x".repeat(2_000), hash),
    () => verifyPassword({}, hash),
    () => verifyPassword("", undefined, CHEAP),
    () => hashPassword("right", CHEAP),
  ];
  const order: number[] = [];
  // 16 run at once, because each counts as 32 MiB. 256 wait.
  const flood = Array.from({ length: 272 }, async (_, i) => {
    const result = await asks[i % asks.length]!();
    order.push(i);
    return result;
  });
  const refused = asks.map((ask) =>
    assertRejects(ask, AuthError, "Too many sign-ins")
  );
  for (const error of await Promise.all(refused)) {
    assertEquals([error.code, error.status], ["RATE_LIMITED", 429]);
    assert(error.retryAfter! > 0);
  }
  const results = await Promise.all(flood);
  for (const [i, result] of results.entries()) {
    const kind = i % asks.length;
    if (kind === 6) assert(String(result).startsWith("$scrypt$"));
    else assertEquals(result, kind === 0);
  }
  // When one finishes, all before it have begun, and 15 of them may still run.
  for (const [place, i] of order.entries()) assert(place >= i - 16);
  assertEquals(await verifyPassword("right", hash), true);
});
