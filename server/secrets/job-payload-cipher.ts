import { decryptSecret, deriveKey, encryptSecret } from './encryption.ts'

/**
 * Encrypts payloads of one kind of job, whose queue must not show their content.
 *
 * @param purpose of the key, see {@link deriveKey}
 * @param context see {@link encryptSecret}
 */
export function createPayloadCipher<Payload extends object>(masterKey: Buffer, purpose: string, context: string) {
  const key = deriveKey(masterKey, purpose)
  return {
    /** @param bytes pads the payload to a length that does not reveal its content */
    encrypt(payload: Payload, bytes = 0): { sealed: string } {
      const text = JSON.stringify(payload)
      const padded = Buffer.alloc(Math.max(bytes, Buffer.byteLength(text)), ' ')
      padded.write(text)
      return { sealed: encryptSecret(key, padded, context).toString('base64') }
    },
    /** @throws Error if another key sealed it, or it was changed */
    decrypt: (data: object): Payload =>
      JSON.parse(decryptSecret(key, Buffer.from((data as { sealed: string }).sealed, 'base64'), context).toString()),
  }
}
