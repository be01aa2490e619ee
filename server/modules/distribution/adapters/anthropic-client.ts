import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { failureOf, PublishFailure } from '../publish-failure.ts'
import type { SkillFolder } from './skill-files.ts'

const apiVersion = '2023-06-01'
const betas = 'skills-2025-10-02'
const pageSize = 100
/** Maximum number of pages. A workspace has fewer; more would be an endless list. */
const pagesMax = 100

/**
 * Calls the part of the Skills API that publishing needs (platform.claude.com/docs/en/api/beta/skills), for the
 * workspace of the key. Every method throws {@link PublishFailure} or OutboundError.
 */
export class AnthropicClient {
  readonly #outbound: Pick<Outbound, 'fetch'>
  readonly #access: AnthropicAccess

  constructor(outbound: Pick<Outbound, 'fetch'>, access: AnthropicAccess) {
    this.#outbound = outbound
    this.#access = access
  }

  /** Returns the uploaded skills with their titles. */
  async list(): Promise<{ id: string; title: string }[]> {
    const skills = await this.#readAll(`/v1/skills?source=custom&limit=${pageSize}`, 'the list of skills')
    return skills.map(({ id, display_title }) => ({ id: String(id), title: String(display_title) }))
  }

  /** Creates a skill and returns its id. */
  async create(title: string, folder: SkillFolder): Promise<string> {
    const form = formOf(folder)
    form.set('display_title', title)
    const { id } = await this.#read('POST', '/v1/skills', 'a skill', form)
    if (typeof id !== 'string') throw new PublishFailure('did not answer a skill with its id')
    return id
  }

  async addVersion(skillId: string, folder: SkillFolder): Promise<void> {
    const path = `/v1/skills/${encodeURIComponent(skillId)}/versions`
    await this.#read('POST', path, 'a version of a skill', formOf(folder))
  }

  /** Deletes a skill with all its versions. A missing one is no failure. */
  async remove(skillId: string): Promise<void> {
    const skill = `/v1/skills/${encodeURIComponent(skillId)}`
    try {
      const versions = await this.#readAll(`${skill}/versions?limit=${pageSize}`, 'the versions of a skill')
      for (const { version, id } of versions) {
        const path = `${skill}/versions/${encodeURIComponent(String(version ?? id))}`
        await this.#read('DELETE', path, 'a version to delete')
      }
      await this.#read('DELETE', skill, 'a skill to delete')
    } catch (error) {
      if (!(error instanceof PublishFailure && error.status === 404)) throw error
    }
  }

  async #call(method: string, path: string, form?: FormData): Promise<Response> {
    const { baseUrl, apiKey, signal } = this.#access
    // Encoded as bytes: the HTTP client of the outbound client accepts only its own form class.
    const encoded = form && new Response(form)
    return this.#outbound.fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
      method,
      headers: {
        'x-api-key': apiKey,
        'anthropic-version': apiVersion,
        'anthropic-beta': betas,
        ...(encoded && { 'content-type': encoded.headers.get('content-type') ?? '' }),
      },
      ...(encoded && { body: Buffer.from(await encoded.arrayBuffer()) }),
      signal,
    })
  }

  async #read(method: string, path: string, what: string, form?: FormData): Promise<JsonObject> {
    const response = await this.#call(method, path, form)
    if (!response.ok) throw failureOf(response, what)
    const body: unknown = await response.json().catch(() => undefined)
    if (!isJsonObject(body)) throw new PublishFailure(`did not answer ${what} with a JSON object`)
    return body
  }

  /** Reads every item of a paginated list. */
  async #readAll(path: string, what: string): Promise<JsonObject[]> {
    const items: JsonObject[] = []
    let page = ''
    for (let at = 0; at < pagesMax; at += 1) {
      const body = await this.#read('GET', `${path}${page}`, what)
      if (!Array.isArray(body.data)) throw new PublishFailure(`did not answer ${what} with a list`)
      items.push(...body.data.filter(isJsonObject))
      if (body.has_more !== true || typeof body.next_page !== 'string') return items
      page = `&page=${encodeURIComponent(body.next_page)}`
    }
    throw new PublishFailure(`has more pages of ${what} than the Hub reads`)
  }
}

interface AnthropicAccess {
  baseUrl: string
  apiKey: string
  signal: AbortSignal
}

/** Puts all files into one folder, as the API requires. */
function formOf({ name, files }: SkillFolder): FormData {
  const form = new FormData()
  for (const { path, text } of files) form.append('files[]', new File([text], `${name}/${path}`))
  return form
}
