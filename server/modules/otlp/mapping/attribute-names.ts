/**
 * The attributes that the mapping reads, by the member of an event; the first present one counts.
 * `docs/opentelemetry.md` has them as a table that a test compares.
 */
export const attributeNames = {
  user_id: [
    'user.id',
    'user.email',
    'enduser.id',
    'litellm.end_user.id',
    'litellm.metadata.user_api_key_end_user_id',
    'litellm.metadata.user_api_key_user_id',
    'traceloop.association.properties.user_id',
  ],
  session_id: ['session.id', 'gen_ai.conversation.id', 'traceloop.association.properties.session_id'],
  llm_platform: ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system'],
  llm_model: ['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name'],
  skill_id: ['skill.name', 'gen_ai.agent.name', 'gen_ai.tool.name'],
  skill_version: ['skill.version', 'gen_ai.agent.version'],
  archetype_id: ['archetype.id'],
  tokens_in: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt'],
  tokens_out: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'],
  cost_usd_estimate: ['gen_ai.usage.cost', 'gen_ai.usage.cost_usd', 'llm.cost.total', 'litellm.cost.total'],
  error_code: ['error.type'],
  'metadata.operation': ['gen_ai.operation.name'],
  'metadata.tokens_cache_read': [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'llm.token_count.prompt_details.cache_read',
  ],
  'metadata.tokens_cache_write': [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'llm.token_count.prompt_details.cache_write',
  ],
  'metadata.tokens_reasoning': [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
  ],
} as const satisfies Record<string, readonly string[]>

/** Attributes of the log events of Claude Code that take the place of the ones above. */
export const claudeCodeNames = {
  llm_model: ['model'],
  latency_ms: ['duration_ms'],
  tokens_in: ['input_tokens'],
  tokens_out: ['output_tokens'],
  cost_usd_estimate: ['cost_usd'],
  error_code: ['error.type', 'status_code'],
  'metadata.tokens_cache_read': ['cache_read_tokens'],
  'metadata.tokens_cache_write': ['cache_creation_tokens'],
} as const satisfies Record<string, readonly string[]>

/** Attributes of the log events of Gemini CLI that take the place of the ones above. */
export const geminiCliNames = {
  user_id: ['user.id', 'user.email', 'enduser.id', 'installation.id'],
  llm_model: ['model', 'model_name'],
  latency_ms: ['duration_ms', 'duration'],
  tokens_in: ['input_token_count'],
  tokens_out: ['output_token_count'],
  error_code: ['error.type', 'error_type', 'status_code'],
  'metadata.tokens_cache_read': ['cached_content_token_count'],
  'metadata.tokens_reasoning': ['thoughts_token_count'],
} as const satisfies Record<string, readonly string[]>

/** Attributes of the log events of Codex CLI that take the place of the ones above. */
export const codexNames = {
  user_id: ['user.id', 'user.email', 'enduser.id', 'user.account_id'],
  session_id: ['session.id', 'conversation.id'],
  llm_model: ['model', 'slug'],
  latency_ms: ['duration_ms'],
  tokens_in: ['input_token_count'],
  tokens_out: ['output_token_count'],
  error_code: ['error.type', 'http.response.status_code'],
  'metadata.tokens_cache_read': ['cached_token_count'],
  'metadata.tokens_reasoning': ['reasoning_token_count'],
} as const satisfies Record<string, readonly string[]>

/** Other attributes by which log events of coding agents are told apart, or whose tokens are added. */
const reportNames = ['event.kind', 'error.message', 'endpoint', 'service.name', 'tool_token_count']

/** The name of an event that is not the name of its log record. */
export const eventNameAttribute = 'event.name'

/** The values of `gen_ai.operation.name` that make an event. */
export const operations: ReadonlySet<unknown> = new Set([
  'chat',
  'text_completion',
  'generate_content',
  'embeddings',
  'invoke_agent',
  'execute_tool',
])

/** Providers by their name in the conventions; any other is `custom:<name>`. */
export const platformOfProvider: ReadonlyMap<string, string> = new Map([
  ['anthropic', 'claude'],
  ['openai', 'chatgpt'],
  ['gcp.gemini', 'gemini'],
  ['gcp.gen_ai', 'gemini'],
  ['gcp.vertex_ai', 'gemini'],
  ['github.copilot', 'copilot'],
])

export const fixedNames: ReadonlySet<string> = new Set([
  ...Object.values(attributeNames).flat(),
  ...[claudeCodeNames, geminiCliNames, codexNames].flatMap((names) => Object.values(names).flat()),
  ...reportNames,
  eventNameAttribute,
])

const contentNames = new Set([
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.prompt',
  'gen_ai.completion',
])

/** Returns whether an attribute can have content. Such attributes are never read. */
export function isContent(name: string): boolean {
  if (name === 'gen_ai.tool.name' || name === 'gen_ai.tool.type') return false
  return contentNames.has(name) || /^gen_ai\.(tool|prompt|completion)\./.test(name)
}
