import { ProvenanceError } from '../../provenance/index.ts'
import { consistencyStep } from './consistency-step.ts'
import { signedCheckpoint } from './log-steps.ts'
import { keyStep } from './record-steps.ts'
import { type Step, type Verification, verdictOf } from './steps.ts'
import { logKeys, type Verifier } from './verify-record.ts'

/**
 * Checks that a trusted key signed the newest state of the tenant's log, and that it continues the state this browser
 * saw last. Throws the source's errors if the Hub does not respond.
 */
export async function checkpointSteps(verifier: Verifier): Promise<Verification> {
  const { tenant, source, store, crypto } = verifier
  const [keys, note] = await Promise.all([logKeys(verifier), source.checkpoint()])
  const steps: Step[] = [keyStep(keys)]
  try {
    const checkpoint = await signedCheckpoint(note, keys, crypto)
    const values = [{ label: 'Signed state', value: note }]
    if (typeof checkpoint === 'string') steps.push({ name: 'checkpoint', state: 'failed', found: checkpoint, values })
    else {
      const found = `A trusted key signed the state with ${checkpoint.treeSize.toLocaleString()} entries.`
      steps.push({ name: 'checkpoint', state: 'passed', found, values })
      steps.push(await consistencyStep({ tenant, store, crypto, source, keys, shown: { ...checkpoint, note } }))
    }
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    steps.push({ name: 'checkpoint', state: 'failed', found: `The state of the log cannot be read: ${error.message}.` })
  }
  return { verdict: verdictOf(steps), steps }
}
