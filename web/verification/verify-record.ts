import type { AsyncCrypto, JsonObject, JsonValue } from '../../provenance/index.ts'
import { consistencyStep, type LogSource } from './consistency-step.ts'
import { type LogKeys, trustedKeys } from './log-keys.ts'
import { logStep, type ProofResponse } from './log-steps.ts'
import { type AskedRecord, recordSteps } from './record-steps.ts'
import { type Step, type Verification, verdictOf } from './steps.ts'
import type { Store } from './trust-store.ts'

/** The source of the inputs: the Hub, whose own verdicts are not used. */
export interface Source extends LogSource {
  /** Returns the response of `GET /.well-known/provenance-keys.json`. */
  keyDocument(): Promise<JsonValue>
  /** Returns the name of the tenant's log, as the Hub states it. */
  logName(): Promise<string>
  proof(recordId: string): Promise<ProofResponse>
}

export interface Verifier {
  tenant: string
  source: Source
  store: Store
  crypto: AsyncCrypto
}

/** Returns the keys of the tenant's log. Throws the source's errors if the Hub does not respond. */
export async function logKeys({ tenant, source, store, crypto }: Verifier): Promise<LogKeys> {
  const [document, logName] = await Promise.all([source.keyDocument(), source.logName()])
  return trustedKeys({ tenant, store, crypto, document, logName })
}

/** Maximum milliseconds to wait for the Hub's additions: the findings of the record itself are shown long before. */
const patienceMs = 15_000

/**
 * Verifies one record, step by step. Never throws for the content of record, keys or proofs: that fails a step. A
 * failed request leaves its steps unknown.
 *
 * @param record as received from the API
 * @param onTampered called with the findings of the record alone, before any further response of the Hub
 */
export async function verifyInBrowser(
  verifier: Verifier,
  record: JsonObject,
  recordId: string,
  onTampered?: (sofar: Verification) => void,
): Promise<Verification> {
  const { tenant, source, store, crypto } = verifier
  const asked: AskedRecord = { recordId, tenant }
  const answers = Promise.all([
    inTime(logKeys(verifier)).catch(() => undefined),
    inTime(source.proof(recordId)).catch(
      (error: unknown): ProofResponse => ({ missing: 'no-answer', because: messageOf(error) }),
    ),
  ])
  const alone = await recordSteps(record, asked, undefined, crypto)
  if (verdictOf(alone.steps) === 'tampered') onTampered?.({ verdict: 'tampered', steps: alone.steps })
  const [keys, proof] = await answers
  const findings = await recordSteps(record, asked, keys, crypto)
  const { step, checkpoint: shown } = await logStep(findings, proof, keys, crypto)
  const history: Step =
    keys && shown
      ? await inTime(consistencyStep({ tenant, store, crypto, source, keys, shown })).catch(
          (error: unknown): Step => ({
            name: 'history',
            state: 'unknown',
            found: `The Hub did not prove how the log went on: ${messageOf(error)}`,
          }),
        )
      : { name: 'history', state: 'unknown', found: 'Without a signed state of the log there is nothing to compare.' }
  const steps = [...findings.steps, step, history]
  return { verdict: verdictOf(steps), steps }
}

function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no answer came in time.')), patienceMs)
    answer.then(resolve, reject).finally(() => clearTimeout(late))
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
