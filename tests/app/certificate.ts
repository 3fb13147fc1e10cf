/**
 * A certificate of localhost that nobody but tests trusts, from 2020 to 2120.
 * Its key is no secret.
 *
 * @module
 */

/** The certificate, which has signed itself. */
export const CERT = `-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNOH8S9SBc0L7EHI
yDh8UjZKyysPMaMLw5rIxJdN4SvAWvO0w1qxHXabLRzV7VBqZYlHCIuAixNadV3V
nFe7nJijSzBJMAwGA1UdEwEB/wQCMAAwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/
AAABMB0GA1UdDgQWBBT3MYlFtbeFz5kaISwQit8Xx1bP9zAKBggqhkjOPQQDAgNJ
ADBGAiEAq/Tk6Fdy8r/oIF8BNC+JcFXXOF5EuEmA5mMrtZ+CXrACIQCU+q0DMJpH
H7cRkCQETu2N+/eqN6TphKLpXpVa1NQxpQ==
-----END CERTIFICATE-----
`;

/** Its private key. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAchJR1r4DWfGcV6Y
eIqDe1f/DlbMcXn4gjDnCulKcdKhRANCAATTh/EvUgXNC+xByMg4fFI2SssrDzGj
C8OayMSXTeErwFrztMNasR12my0c1e1QamWJRwiLgIsTWnVd1ZxXu5yY
-----END PRIVATE KEY-----
`;
