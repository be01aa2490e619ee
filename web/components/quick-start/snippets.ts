/** The values of a tenant and of a service account that the snippets contain. */
export interface SnippetValues {
  /** The Hub's origin. */
  baseUrl: string
  tenant: string
  clientId: string
  /** Only present right after the account was created. */
  clientSecret?: string | undefined
  skillId: string
  skillVersion: string
  archetypeId: string
  /** The user of the event, `user:<e-mail address>`: the reader. */
  userId: string
}

export interface Snippet {
  id: 'curl' | 'typescript' | 'python' | 'otlp' | 'claude-code' | 'litellm'
  label: string
  /** The use of the text, for the reader. */
  about: string
  /** The page of the documentation about it. */
  page: { name: string; path: string }
  text: string
}

const secretPlaceholder = '<client secret>'

const eventsPage = { name: 'Send events', path: '/docs/connector-developer#send-one-event-or-a-batch' }
const otlpPage = (name: string, anchor: string) => ({ name, path: `/docs/opentelemetry${anchor}` })

/** Returns the snippets that send the first event, ready to be copied. tests/web/quick-start.test.ts runs each. */
export function snippetsFor(values: SnippetValues): Snippet[] {
  return [
    { id: 'curl', label: 'curl', about: 'Run it in a shell.', page: eventsPage, text: curl(values) },
    {
      id: 'typescript',
      label: 'TypeScript',
      about:
        'Save it as first-event.mjs and run node first-event.mjs (Node 20 or newer). In programs, use the TypeScript SDK: @org-memory-hub/sdk.',
      page: { name: 'TypeScript SDK', path: '/docs/sdk/typescript' },
      text: typescript(values),
    },
    {
      id: 'python',
      label: 'Python',
      about:
        'Save it as first_event.py and run python3 first_event.py. It needs no package. In programs, use the Python SDK: org-memory-hub.',
      page: { name: 'Python SDK', path: '/docs/sdk/python' },
      text: python(values),
    },
    {
      id: 'otlp',
      label: 'OpenTelemetry',
      about: 'Set these variables for any program with an OTLP exporter. Spans of calls to models become events.',
      page: otlpPage('OpenTelemetry', ''),
      text: exportsOf(otlpVariables(values)),
    },
    {
      id: 'claude-code',
      label: 'Claude Code',
      about:
        'Put it into managed-settings.json of each machine. Without OTEL_LOG_TOOL_DETAILS=1, Claude Code masks the names of skills.',
      page: otlpPage('Claude Code', '#claude-code'),
      text: claudeCode(values),
    },
    {
      id: 'litellm',
      label: 'LiteLLM',
      about:
        'Set callbacks: ["otel"] in litellm_settings of its configuration, and these variables; restart the proxy.',
      page: otlpPage('LiteLLM', '#litellm'),
      text: litellm(values),
    },
  ]
}

function credentialsOf({ clientId, clientSecret = secretPlaceholder }: SnippetValues): string {
  return `${clientId}:${clientSecret}`
}

function eventOf({ skillId, skillVersion, archetypeId, userId }: SnippetValues) {
  return {
    ...{ skill_id: skillId, skill_version: skillVersion, archetype_id: archetypeId, user_id: userId },
    ...{ llm_platform: 'claude', llm_model: 'claude-sonnet-4-5', success: true },
    ...{ latency_ms: 1840, tokens_in: 1250, tokens_out: 310, cost_usd_estimate: 0.0085 },
  }
}

/** Returns a text as one word of a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns commands that pipe the secret into curl: every user of the machine sees the arguments of a process. */
function curl(values: SnippetValues): string {
  const event = JSON.stringify({ ...eventOf(values), ts: '<now>' }, null, 2)
  return `TOKEN=$(printf 'user = "%s"' ${quoteForShell(credentialsOf(values))} \\
  | curl -s --config - ${values.baseUrl}/api/v1/oauth/token \\
  -d 'grant_type=client_credentials&scope=telemetry:write' \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s ${values.baseUrl}/api/v1/telemetry/events \\
  -H "Authorization: Bearer $TOKEN" \\
  -H ${quoteForShell(`X-Service-Tenant: ${values.tenant}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${quoteForShell(event).replace('<now>', `'$(date -u +%Y-%m-%dT%H:%M:%SZ)'`)}`
}

/** Returns members as lines of a literal. JSON strings are valid in TypeScript and in Python. */
function literalLines(members: object, indent: string, word: (value: unknown) => string = JSON.stringify): string {
  return Object.entries(members)
    .map(([name, value]) => `${indent}${JSON.stringify(name)}: ${word(value)},`)
    .join('\n')
}

function typescript(values: SnippetValues): string {
  return `const hub = ${JSON.stringify(values.baseUrl)}

const granted = await fetch(\`\${hub}/api/v1/oauth/token\`, {
  method: 'POST',
  headers: { Authorization: \`Basic \${btoa(${JSON.stringify(credentialsOf(values))})}\` },
  body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'telemetry:write' }),
})
const { access_token } = await granted.json()

const stored = await fetch(\`\${hub}/api/v1/telemetry/events\`, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${access_token}\`,
    'Content-Type': 'application/json',
    'X-Service-Tenant': ${JSON.stringify(values.tenant)},
  },
  body: JSON.stringify({
${literalLines(eventOf(values), '    ')}
    "ts": new Date().toISOString(),
  }),
})
console.log(stored.status, await stored.json())`
}

function python(values: SnippetValues): string {
  const word = (value: unknown) => (value === true ? 'True' : JSON.stringify(value))
  return `import base64, datetime, json, urllib.parse, urllib.request

hub = ${JSON.stringify(values.baseUrl)}
basic = base64.b64encode(${JSON.stringify(credentialsOf(values))}.encode()).decode()
form = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": "telemetry:write"}).encode()
granted = urllib.request.urlopen(
    urllib.request.Request(f"{hub}/api/v1/oauth/token", form, {"Authorization": f"Basic {basic}"})
)
token = json.load(granted)["access_token"]

event = {
${literalLines(eventOf(values), '    ', word)}
    "ts": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
}
headers = {
    "Authorization": f"Bearer {token}",
    "Content-Type": "application/json",
    "X-Service-Tenant": ${JSON.stringify(values.tenant)},
}
stored = urllib.request.urlopen(
    urllib.request.Request(f"{hub}/api/v1/telemetry/events", json.dumps(event).encode(), headers)
)
print(stored.status, json.load(stored))`
}

/** Returns resource attributes that complete a call: a person, an archetype and a skill. */
function sampleAttributes({ userId, archetypeId, skillId }: SnippetValues): Record<string, string> {
  return { 'user.id': userId.replace(/^user:/, ''), 'archetype.id': archetypeId, 'skill.name': skillId }
}

/**
 * Returns the variables of OpenTelemetry exporters. `skill.name` and `user.id` of the resource take precedence over
 * `gen_ai.agent.name` and `user.email` of a span.
 */
function otlpVariables(values: SnippetValues, attributes = sampleAttributes(values)) {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${values.baseUrl}/api/v1/otlp`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Basic%20${basicOf(values)}`,
    OTEL_RESOURCE_ATTRIBUTES: Object.entries(attributes)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join(','),
  }
}

function basicOf(values: SnippetValues): string {
  return values.clientSecret === undefined ? `<base64 of ${credentialsOf(values)}>` : btoa(credentialsOf(values))
}

function exportsOf(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoteForShell(value)}`)
    .join('\n')
}

/** Returns variables for many people: LiteLLM itself sends the end user, or the owner of the API key. */
function litellm(values: SnippetValues): string {
  const attributes = { 'archetype.id': values.archetypeId, 'skill.name': values.skillId }
  return exportsOf({ LITELLM_OTEL_V2: 'true', ...otlpVariables(values, attributes) })
}

/** Returns settings for many people. Claude Code itself sends the user, and the skills that a session activates. */
function claudeCode(values: SnippetValues): string {
  const env = {
    CLAUDE_CODE_ENABLE_TELEMETRY: '1',
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_LOG_TOOL_DETAILS: '1',
    ...otlpVariables(values, { 'archetype.id': values.archetypeId }),
  }
  return JSON.stringify({ env }, null, 2)
}
