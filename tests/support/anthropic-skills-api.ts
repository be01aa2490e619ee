import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeSkill {
  id: string
  display_title: string
  versions: { version: string; files: Record<string, string> }[]
}

/**
 * Anthropic's Skills API as its documentation describes it (beta `skills-2025-10-02`): skills and versions of one
 * workspace, multipart uploads of one folder with a SKILL.md, pages, titles that must differ, and skills that can be
 * deleted only once all their versions are.
 */
export interface FakeSkillsApi {
  url: string
  apiKey: string
  skills: Map<string, FakeSkill>
  /** `METHOD path` of every request. */
  calls: string[]
  /** Answers with this status instead, where it says one. */
  fault: (call: string) => number | undefined
  stop(): Promise<void>
}

type Reply = [status: number, body: object]
const refused = (status: number, type: string, message: string): Reply => [
  status,
  { type: 'error', error: { type, message }, request_id: null },
]
const invalid = (message: string) => refused(400, 'invalid_request_error', message)
const at = '2026-01-01T00:00:00Z'

export async function startAnthropicSkillsApi(): Promise<FakeSkillsApi> {
  let made = 0
  const pageSize = 2

  async function reply(request: IncomingMessage, body: Buffer): Promise<Reply> {
    const url = new URL(request.url ?? '/', api.url)
    const call = `${request.method} ${url.pathname}`
    api.calls.push(call)
    const fault = api.fault(call)
    if (fault !== undefined) return refused(fault, 'api_error', 'as the test wants it')
    if (request.headers['x-api-key'] !== api.apiKey) return refused(401, 'authentication_error', 'invalid x-api-key')
    if (request.headers['anthropic-version'] !== '2023-06-01') return invalid('anthropic-version: header is required')
    if (!String(request.headers['anthropic-beta']).includes('skills-2025-10-02')) return invalid('unknown beta')
    const [, , , id, kind, version] = url.pathname.split('/')
    if (id === undefined) return request.method === 'POST' ? create(request, body) : list(url, [...api.skills.values()])
    const skill = api.skills.get(id)
    if (!skill) return refused(404, 'not_found_error', 'no such skill')
    if (kind === undefined) return remove(skill)
    if (request.method === 'POST') return addVersion(skill, request, body)
    if (request.method === 'GET') return list(url, skill.versions)
    skill.versions = skill.versions.filter((each) => each.version !== version)
    return [200, { id: version, type: 'skill_version_deleted' }]
  }

  function list(url: URL, all: readonly object[]): Reply {
    const from = Number(url.searchParams.get('page') ?? 0)
    const more = from + pageSize < all.length
    const data = all.slice(from, from + pageSize)
    return [200, { data, has_more: more, next_page: more ? String(from + pageSize) : null }]
  }

  async function create(request: IncomingMessage, body: Buffer): Promise<Reply> {
    const form = await formOf(request, body)
    const title = String(form.get('display_title'))
    const files = await filesOf(form)
    if (typeof files === 'string') return invalid(files)
    if ([...api.skills.values()].some(({ display_title }) => display_title === title)) {
      return invalid(`Skill cannot reuse an existing display_title: ${title}`)
    }
    made += 1
    const skill = { id: `skill_${made}`, display_title: title, versions: [{ version: `${made}`, files }] }
    api.skills.set(skill.id, skill)
    return [
      200,
      { ...skill, type: 'skill', source: 'custom', latest_version: `${made}`, created_at: at, updated_at: at },
    ]
  }

  async function addVersion(skill: FakeSkill, request: IncomingMessage, body: Buffer): Promise<Reply> {
    const files = await filesOf(await formOf(request, body))
    if (typeof files === 'string') return invalid(files)
    const [before] = skill.versions
    if (before && folderOf(before.files) !== folderOf(files)) return invalid('the name of a skill cannot change')
    made += 1
    skill.versions.push({ version: `${made}`, files })
    return [
      200,
      { id: `skillver_${made}`, type: 'skill_version', skill_id: skill.id, version: `${made}`, created_at: at },
    ]
  }

  function remove(skill: FakeSkill): Reply {
    if (skill.versions.length > 0)
      return invalid('Cannot delete skill with existing versions. Delete all versions first.')
    api.skills.delete(skill.id)
    return [200, { id: skill.id, type: 'skill_deleted' }]
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const [status, body] = await reply(request, Buffer.concat(chunks))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const api: FakeSkillsApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'sk-ant-of-the-test',
    skills: new Map(),
    calls: [],
    fault: () => undefined,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return api
}

function formOf(request: IncomingMessage, body: Buffer): Promise<FormData> {
  const headers = { 'content-type': String(request.headers['content-type']) }
  return new Response(new Uint8Array(body), { headers }).formData()
}

const folderOf = (files: Record<string, string>) => Object.keys(files)[0]?.split('/')[0]

/** By path; or what is wrong with them. */
async function filesOf(form: FormData): Promise<Record<string, string> | string> {
  const files: Record<string, string> = {}
  for (const file of form.getAll('files[]')) if (file instanceof File) files[file.name] = await file.text()
  const folder = folderOf(files)
  if (Object.keys(files).some((path) => !path.startsWith(`${folder}/`)))
    return 'files must be in one top-level directory'
  const skillMd = files[`${folder}/SKILL.md`]
  if (skillMd === undefined) return 'SKILL.md must be at the root of the directory'
  const [, name, description] = /^---\nname: ([a-z0-9-]{1,64})\ndescription: "(.{1,1024})"\n---\n/.exec(skillMd) ?? []
  if (name === undefined || description === undefined) return 'SKILL.md must begin with name and description'
  if (name !== folder || /anthropic|claude/.test(name)) return 'the name is not that of the directory, or reserved'
  return files
}
