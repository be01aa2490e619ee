import { Type } from 'typebox'
import type { JsonObject } from '../../../../provenance/json.ts'
import { type AgentClient, closed, defineTool, object, recordUri } from './tool.ts'

const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
const optionalText = (maxLength: number, description: string) => Type.Optional(text(maxLength, description))

const relatedRecords = Type.Optional(
  Type.Array(Type.String(), {
    maxItems: 256,
    description: 'Ids of existing records that this one is based on or answers, without duplicates',
  }),
)
const model = optionalText(128, 'Your own model id, such as claude-sonnet-4-5, so that readers know what wrote it')
const idempotencyKey = Type.Optional(
  Type.String({
    pattern: '^[\\x21-\\x7e]{1,255}$',
    description: 'A unique key of this write. Repeat it when you try again, and nothing is written twice for 24 hours',
  }),
)

const receipt = object({
  record_id: Type.String({ description: 'Id of the new record' }),
  uri: Type.String({ description: 'The record as a resource' }),
  provenance_hash: Type.String({ description: 'SHA-256 of the sealed content' }),
  provenance_cosign: Type.String({ description: 'Signature of the seal' }),
})

function toReceipt(answer: JsonObject): JsonObject {
  const { record_id, provenance_hash = '', provenance_cosign = '' } = answer
  return { record_id: String(record_id), uri: recordUri(String(record_id)), provenance_hash, provenance_cosign }
}

/** Returns the metadata of a written record: the program that wrote it, and its model. */
function metadataOf(client: AgentClient | undefined, llmModel?: string): JsonObject {
  const metadata = {
    ...(client && { client_name: client.name }),
    ...(client?.version && { client_version: client.version }),
    ...(llmModel && { llm_model: llmModel }),
  }
  return Object.keys(metadata).length === 0 ? {} : { metadata }
}

export const recordDecision = defineTool({
  name: 'record_decision',
  title: 'Record a decision',
  description: `Writes a decision into the organization's memory: what was decided, why, and by whom. It is sealed and cannot be changed afterwards.

Use it when a person in the conversation has decided something that others should be able to find and check later, and wants it recorded. Do not use it for your own suggestions, for notes (use record_output), or for something that is recorded already: search first.

Bounds: each text has 1 to 4,000 characters. Write for a reader who was not there. Link the records that the decision is based on in \`related_records\`. Needs the scope hub:write.

Example: {"decision_id": "DEC-2031", "decision_subject": "Renewal of the Northwind contract", "decision_outcome": "Approved for 12 months at list price", "decision_rationale": "Usage grew by a third, and the alternative costs more.", "decision_actor_role": "account manager"}`,
  operation: 'writeRecord',
  isReadOnly: false,
  input: object(
    {
      decision_id: text(4000, "The organization's own id of the decision, such as a ticket number"),
      decision_subject: text(4000, 'The question that was decided'),
      decision_outcome: text(4000, 'The decision'),
      decision_rationale: text(4000, 'The reasons, with numbers and alternatives where they matter'),
      decision_actor_role: text(4000, 'Role of the person who decided; never a name'),
      related_records: relatedRecords,
      llm_model: model,
      idempotency_key: idempotencyKey,
    },
    closed,
  ),
  output: receipt,
  async run({ llm_model, idempotency_key, ...fields }, { call, client }) {
    const body = { record_type: 'decision', ...fields, ...metadataOf(client, llm_model) } as JsonObject
    return toReceipt(await call('writeRecord', { body, idempotencyKey: idempotency_key }))
  },
})

export const recordOutput = defineTool({
  name: 'record_output',
  title: 'Record an output',
  description: `Writes the result of a skill into the organization's memory: a summary, a draft, an analysis. It is sealed and cannot be changed afterwards.

Use it when you have produced something with a registered skill that should be kept, found and linked. Find the skill with list_skills first; an unregistered skill is refused. Use record_decision for decisions.

Bounds: \`content\` is any JSON, at most 1 MiB in all. Link the records that it is made from in \`related_records\`. Needs the scope hub:write.

Example: {"skill_id": "summarise-contract", "title": "Summary of the renewal", "content": {"summary": "Renewal risk is low."}, "llm_model": "claude-sonnet-4-5"}`,
  operation: 'writeRecord',
  isReadOnly: false,
  input: object(
    {
      skill_id: text(128, 'Id of a registered skill that is not retired, from list_skills'),
      title: optionalText(500, 'A title by which people recognize the output'),
      content: Type.Unknown({ description: 'The output: text or any JSON' }),
      content_type: optionalText(255, 'Media type of the content, such as text/markdown'),
      skill_version: optionalText(64, 'Version of the skill, such as 1.4.0'),
      archetype_id: optionalText(128, 'Archetype that the output is for'),
      user_id: optionalText(259, 'Recipient, such as user:ada@example.com'),
      llm_platform: optionalText(70, 'claude, chatgpt, gemini, copilot, slack or custom:<name>'),
      llm_model: model,
      cost_usd_estimate: Type.Optional(Type.Number({ minimum: 0, description: 'Cost in US dollars, if you know it' })),
      related_records: relatedRecords,
      idempotency_key: idempotencyKey,
    },
    closed,
  ),
  output: receipt,
  async run({ idempotency_key, ...fields }, { call, client }) {
    const body = { record_type: 'output', ...fields, ...metadataOf(client, fields.llm_model) } as JsonObject
    return toReceipt(await call('writeRecord', { body, idempotencyKey: idempotency_key }))
  },
})
