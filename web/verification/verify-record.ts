import type { AsyncCrypto, JsonObject, JsonValue } from '../../provenance/index.ts'
import { historyStep, type LogSource } from './history-step.ts'
import { type LogKeys, trustedKeys } from './log-keys.ts'
import { logStep, type ProofAnswer } from './log-steps.ts'
import { type AskedRecord, recordSteps } from './record-steps.ts'
import { type Step, type Verification, verdictOf } from './steps.ts'
import type { Store } from './trust-store.ts'

/** Where the material comes from: the Hub, whose own verdicts are not asked for. */
export interface Source extends LogSource {
  /** `GET /.well-known/provenance-keys.json` */
  keyDocument(): Promise<JsonValue>
  /** The name of the tenant's log, as the Hub says it. */
  logName(): Promise<string>
  proof(recordId: string): Promise<ProofAnswer>
}

export interface Verifier {
  tenant: string
  source: Source
  store: Store
  crypto: AsyncCrypto
}

/** The keys of the tenant's log. Throws what the source throws where the Hub does not answer. */
export async function logKeys({ tenant, source, store, crypto }: Verifier): Promise<LogKeys> {
  const [document, logName] = await Promise.all([source.keyDocument(), source.logName()])
  return trustedKeys({ tenant, store, crypto, document, logName })
}

/**
 * Verifies one record, step by step. What the record, the keys or the proofs contain never throws: it fails a step. What
 * could not be had leaves its steps unknown.
 *
 * @param record as the API answered it
 */
export async function verifyInBrowser(verifier: Verifier, record: JsonObject, recordId: string): Promise<Verification> {
  const { tenant, source, store, crypto } = verifier
  const asked: AskedRecord = { recordId, tenant }
  const [keys, proof] = await Promise.all([
    logKeys(verifier).catch(() => undefined),
    source.proof(recordId).catch((error: unknown): ProofAnswer => ({ missing: 'no-answer', because: String(error) })),
  ])
  const findings = await recordSteps(record, asked, keys, crypto)
  const { step, checkpoint: shown } = await logStep(findings, proof, keys, crypto)
  const history: Step =
    keys && shown
      ? await historyStep({ tenant, store, crypto, source, keys, shown }).catch(
          (error: unknown): Step => ({
            name: 'history',
            state: 'unknown',
            found: `The Hub did not prove how the log went on: ${error instanceof Error ? error.message : error}`,
          }),
        )
      : { name: 'history', state: 'unknown', found: 'Without a signed state of the log there is nothing to compare.' }
  const steps = [...findings.steps, step, history]
  return { verdict: verdictOf(steps), steps }
}
