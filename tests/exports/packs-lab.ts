import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import type { ExportsHub } from './ordered-exports.ts'

export const packsPath = '/api/v1/hub/evidence-packs'

/** The files of an archive by name, in their order. */
export type PackFiles = Map<string, Buffer>

/** Orders, downloads, changes and verifies evidence packs. */
export async function openPacksLab(lab: Pick<ExportsHub, 'call' | 'ended'>) {
  const directory = await mkdtemp(join(tmpdir(), 'hub-packs-'))
  let saved = 0

  async function save(archive: Buffer): Promise<string> {
    saved += 1
    const path = join(directory, `pack-${saved}.tar.gz`)
    await writeFile(path, archive)
    return path
  }

  return {
    save,
    /** Orders a pack, and returns the path of its archive. */
    async ordered(tenant: string, body: object): Promise<string> {
      const answer = await lab.call(tenant, 'POST', packsPath, { body })
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
      const job = await lab.ended(tenant, answer.body.job_id)
      if (job.status !== 'completed') throw new Error(JSON.stringify(job))
      return save(Buffer.from(await (await fetch(job.download_url)).arrayBuffer()))
    },
    verified: (path: string, keys?: string) => verifyFile(path, keys === undefined ? {} : { keys }),
    async keyFile(tenant: string): Promise<string> {
      const path = join(directory, `${tenant}-keys.json`)
      const { body } = await lab.call(tenant, 'GET', '/.well-known/provenance-keys.json')
      await writeFile(path, JSON.stringify(body))
      return path
    },
    close: () => rm(directory, { recursive: true, force: true }),
  }
}

export async function filesIn(path: string): Promise<PackFiles> {
  const files: PackFiles = new Map()
  const archive = extract()
  archive.end(gunzipSync(await readFile(path)))
  for await (const entry of archive) files.set(entry.header.name, await buffer(entry))
  return files
}

export async function archiveOf(files: Iterable<[name: string, content: Buffer]>): Promise<Buffer> {
  const archive = pack()
  for (const [name, content] of files) archive.entry({ name }, content)
  archive.finalize()
  return gzipSync(await buffer(archive))
}

export function rowsIn(files: PackFiles, name: string) {
  const lines = files.get(name)!.toString().split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}
