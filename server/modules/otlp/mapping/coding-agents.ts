import type { AttributeValue } from '../inherited-attributes.ts'
import type { OtlpItem } from '../otlp-types.ts'
import { attributeNames, claudeCodeNames, codexNames, eventNameAttribute, geminiCliNames } from './attribute-names.ts'

type Member = keyof typeof attributeNames | 'latency_ms'
export type Names = Readonly<Partial<Record<Member, readonly string[]>>>

/** A call of a model that a log record of a coding agent reports. */
export interface AgentCall {
  platform: string
  operation: string
  names: Names
  /** Attributes whose tokens add to those of the first one that is present. */
  added: Names
  isFailed: boolean
  /** Whether sessions activate skills: only in Claude Code. */
  hasSkills: boolean
}

/** A call to store, an activation of a skill, a record about a call that another one reports, or about something else. */
export type AgentReport = AgentCall | 'skill_activated' | 'ignored' | 'other'

const plain = { added: {}, isFailed: false, hasSkills: false }
const claudeCode: AgentCall = {
  ...{ ...plain, platform: 'claude', operation: 'chat', hasSkills: true },
  names: { ...attributeNames, ...claudeCodeNames },
}
const geminiCli: AgentCall = {
  ...{ ...plain, platform: 'gemini', operation: 'generate_content' },
  names: { ...attributeNames, ...geminiCliNames },
  added: { tokens_in: ['tool_token_count'], tokens_out: ['thoughts_token_count'] },
}
const codex: AgentCall = {
  ...{ ...plain, platform: 'chatgpt', operation: 'chat' },
  names: { ...attributeNames, ...codexNames },
}

type Read = (name: string) => AttributeValue | undefined

/** The log records of each agent, by the part of their names before the dot. */
const agents: Record<string, (event: string, read: Read) => AgentReport | undefined> = {
  claude_code: (event) => {
    if (event === 'api_request') return claudeCode
    if (event === 'api_error') return { ...claudeCode, isFailed: true }
    return event === 'skill_activated' ? event : undefined
  },
  gemini_cli: (event) => {
    if (event === 'api_response') return geminiCli
    return event === 'api_error' ? { ...geminiCli, isFailed: true } : undefined
  },
  codex: (event, read) => {
    const isFailed = read('error.message') !== undefined
    if (event === 'sse_event' && read('event.kind') === 'response.completed') {
      // The stream's own event has the same kind, and the time since the event before it.
      const isOfStream = read('input_token_count') === undefined && read('duration_ms') !== undefined
      return isOfStream ? 'ignored' : { ...codex, isFailed }
    }
    // A request that succeeds is followed by the event above.
    const isRefused = isFailed || Number(read('http.response.status_code')) >= 400
    return event === 'api_request' && isRefused && isOfModel(read('endpoint'))
      ? { ...codex, isFailed: true }
      : undefined
  },
}

/** Returns what a log record of Claude Code, Gemini CLI or Codex CLI reports; undefined for one of another program. */
export function agentReportOf({ name, attributes }: OtlpItem): AgentReport | undefined {
  const read: Read = (attribute) => attributes.get(attribute)
  const event = String(read(eventNameAttribute) ?? name)
  // Gemini CLI reports each call a second time, by the conventions.
  if (event === 'gen_ai.client.inference.operation.details' && isGeminiCli(read)) return 'ignored'
  const prefixed = [event, name].find((text) => Object.hasOwn(agents, text.split('.', 1)[0]!) && text.includes('.'))
  if (prefixed === undefined) return undefined
  const agent = prefixed.split('.', 1)[0]!
  return agents[agent]!(event.replace(`${agent}.`, ''), read) ?? 'other'
}

function isGeminiCli(read: Read): boolean {
  return read('service.name') === 'gemini-cli' || read('installation.id') !== undefined
}

/** Codex also requests lists of models. */
function isOfModel(endpoint: AttributeValue | undefined): boolean {
  return endpoint === undefined || endpoint === 'unknown' || String(endpoint).includes('responses')
}
