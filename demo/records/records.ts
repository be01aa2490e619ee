import { people } from '../company.ts'
import { modelsOf } from '../models.ts'
import { skills } from '../skills.ts'
import { artifacts } from './artifacts.ts'
import { decisions } from './decisions.ts'
import { outputs } from './outputs.ts'
import type { DemoArtifact, DemoDecision, DemoOutput } from './record-types.ts'

/** A record to write, and the keys of the records in its related_records. */
export interface DemoRecord {
  /** The title, or the id of a decision, by which a later load finds the record. */
  key: string
  related: readonly string[]
  body: Record<string, unknown>
  /** True if the legal hold of the demo covers it. */
  held: boolean
  /** True if the demo purges it. */
  purged: boolean
}

export const legalHold = {
  name: 'Tarn Valley Guides: refund claim',
  reason:
    'The cooperative claims $18,400 for refused refunds and asks how each refusal came about. Keep what the refusals rest on until the claim is settled.',
} as const
const heldRefs = [
  ...['claim-letter', 'refund-policy', 'claim-summary', 'claim-timeline', 'claim-sample', 'claim-answer'],
  ...['DEC-107', 'DEC-108', 'DEC-109'],
]

export const purgeReason = 'Uploaded twice: the first copy stays. Nothing refers to this one.'
const purgedRef = 'refund-policy-copy'

/** All records, each after the records that it names. */
export const demoRecords: readonly DemoRecord[] = recordsOf()

function recordsOf(): DemoRecord[] {
  const titles = new Map([...artifacts, ...outputs].map(({ ref, title }) => [ref, title]))
  const keyOf = (ref: string) => titles.get(ref) ?? ref
  const record = (ref: string, related: readonly string[], body: Record<string, unknown>): DemoRecord => ({
    key: keyOf(ref),
    related: related.map(keyOf),
    body,
    held: heldRefs.includes(ref),
    purged: ref === purgedRef,
  })
  return [
    ...artifacts.map((artifact) => record(artifact.ref, artifact.related ?? [], artifactBody(artifact))),
    ...outputs.map((output, index) => record(output.ref, output.related, outputBody(output, index))),
    ...decisions.map((decision) => record(decision.id, decision.related, decisionBody(decision))),
  ]
}

function artifactBody({ title, mediaType, path, text }: DemoArtifact) {
  const uri = `https://wiki.demo.example/${path}`
  return { record_type: 'artifact', title, media_type: mediaType, uri, content: { extract: text } }
}

function outputBody({ title, skillId, text }: DemoOutput, index: number) {
  const skill = skills.find(({ id }) => id === skillId)!
  const archetype = Object.keys(skill.weights)[0] as keyof typeof modelsOf
  const colleagues = people.filter(({ archetypeId }) => archetypeId === archetype)
  const [{ platform, model }] = modelsOf[archetype][0]!
  return {
    record_type: 'output',
    title,
    skill_id: skillId,
    skill_version: skill.version,
    archetype_id: archetype,
    user_id: `user:${colleagues[(index * 5) % colleagues.length]!.email}`,
    llm_platform: platform,
    llm_model: model,
    content_type: 'application/json',
    content: { text },
  }
}

function decisionBody({ id, subject, outcome, rationale, role }: DemoDecision) {
  return {
    record_type: 'decision',
    decision_id: id,
    decision_subject: subject,
    decision_outcome: outcome,
    decision_rationale: rationale,
    decision_actor_role: role,
  }
}
