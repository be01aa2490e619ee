import { secretOverlapHours } from '../../contract/limits.ts'
import { formatTimestamp } from '../../contract/timestamp.ts'
import { randomText } from './random-text.ts'

/** What messages are signed with, as it is stored: the newest, and the one before it for a while. */
export interface SealedSigningSecrets {
  secret_sealed: Buffer
  former_secret_sealed: Buffer | null
  former_secret_until: string | null
}

/** `whsec_` and 44 characters, which are 262 bits. The whole of it is the key of the HMAC. */
export function makeSigningSecret(): string {
  return `whsec_${randomText(44)}`
}

/** Until when a secret that another takes the place of now is good. */
export function formerSecretUntil(): string {
  return formatTimestamp(Date.now() + secretOverlapHours * 3_600_000)
}

/** Whether there is a former secret that is still good, by the clock of this process. */
export function isFormerGood({
  former_secret_until: until,
}: Pick<SealedSigningSecrets, 'former_secret_until'>): boolean {
  return until !== null && Date.now() < Date.parse(until)
}

/**
 * Both secrets, the former while it is good.
 *
 * @param open unseals one; answers undefined once its key is destroyed
 */
export async function openSigningSecrets(
  row: SealedSigningSecrets,
  open: (sealed: Buffer) => Promise<string | undefined>,
): Promise<{ current: string | undefined; former: string | undefined }> {
  const former = isFormerGood(row) ? row.former_secret_sealed : null
  return { current: await open(row.secret_sealed), former: former === null ? undefined : await open(former) }
}
