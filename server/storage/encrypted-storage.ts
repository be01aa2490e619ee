import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { pipeline, Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Storage } from './storage.ts'

const magic = Buffer.from('omhfile1')
/** Size of the header of every encrypted file: magic, length of the encrypted key, encrypted key, zeros. */
export const headerBytes = 256
export const blockBytes = 64 * 1024
const nonceBytes = 12
const tagBytes = 16
const sealedBlockBytes = nonceBytes + blockBytes + tagBytes

/** The key that encrypts files, and its form encrypted under the tenant's key. */
export interface FileKey {
  /** The key, 32 bytes. */
  key: Buffer
  /** The encrypted form, in the header of each file. */
  sealed: Buffer
}

/**
 * Encrypts files on write and decrypts them on read; sizes and ranges are those of the plaintext. A file consists of a
 * header and blocks of 64 KiB, each under AES-256-GCM with a random nonce (NIST SP 800-38D). Name, position and the end
 * of the file are authenticated with each block. So a block decrypts nowhere else, and a truncated file fails.
 */
export function encryptedStorage(storage: Storage, { key, sealed }: FileKey): Storage {
  const sizeOf = async (name: string) => {
    const stored = await storage.size(name)
    return stored === undefined ? undefined : plainBytes(stored)
  }
  return {
    place: storage.place,
    delete: (name) => storage.delete(name),
    list: (prefix) => storage.list(prefix),
    size: sizeOf,
    write: (name, content) => {
      const plain = content instanceof Uint8Array ? Readable.from([content]) : content
      // A source that breaks off destroys the result with its error, which the storage then throws.
      return storage.write(
        name,
        pipeline(plain, encryptor(key, name, headerOf(sealed)), () => {}),
      )
    },
    async read(name, range) {
      const size = await sizeOf(name)
      if (size === undefined) return undefined
      const { start, end } = range ?? { start: 0, end: size - 1 }
      const [first, last] = [Math.floor(start / blockBytes), Math.floor(Math.max(end, 0) / blockBytes)]
      const stored = await storage.read(name, {
        start: headerBytes + first * sealedBlockBytes,
        // A range may end beyond the file.
        end: headerBytes + (last + 1) * sealedBlockBytes - 1,
      })
      const from = { first, blocks: blocksOf(size), skip: start - first * blockBytes, length: end - start + 1 }
      return stored && pipeline(stored, decryptor(key, name, from), () => {})
    },
  }
}

/** Returns the encrypted key of a stored file, or undefined for a missing file and for one in clear. */
export async function sealedKeyOf(storage: Storage, name: string): Promise<Buffer | undefined> {
  const found = await storage.read(name, { start: 0, end: headerBytes - 1 })
  const header = found && (await buffer(found))
  if (header === undefined || !header.subarray(0, magic.length).equals(magic)) return undefined
  return header.subarray(magic.length + 2, magic.length + 2 + header.readUInt16BE(magic.length))
}

function headerOf(sealed: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes)
  if (magic.length + 2 + sealed.length > headerBytes) throw new Error('the encrypted key of a file is too long')
  magic.copy(header)
  header.writeUInt16BE(sealed.length, magic.length)
  sealed.copy(header, magic.length + 2)
  return header
}

/** Returns the number of blocks; an empty file has one empty block. */
function blocksOf(plain: number): number {
  return Math.max(Math.ceil(plain / blockBytes), 1)
}

function plainBytes(stored: number): number {
  const body = Math.max(stored - headerBytes, 0)
  return Math.max(body - Math.ceil(body / sealedBlockBytes) * (nonceBytes + tagBytes), 0)
}

function encryptor(key: Buffer, name: string, header: Buffer): Transform {
  const block = Buffer.allocUnsafeSlow(blockBytes)
  let filled = 0
  let index = 0
  const sealBlock = (isLast: boolean) => {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    cipher.setAAD(associatedData(name, index, isLast))
    index += 1
    const body = cipher.update(block.subarray(0, filled))
    filled = 0
    return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()])
  }
  const encrypting = new Transform({
    transform(piece: Buffer, _encoding, done) {
      for (let rest = piece; rest.length > 0; ) {
        if (filled === blockBytes) this.push(sealBlock(false))
        const taken = rest.copy(block, filled)
        filled += taken
        rest = rest.subarray(taken)
      }
      done()
    },
    flush(done) {
      done(null, sealBlock(true))
    },
  })
  encrypting.push(header)
  return encrypting
}

interface Part {
  /** Index of the first block of the stream, and the number of blocks of the file. */
  first: number
  blocks: number
  /** Plain bytes to skip at the beginning, and the number of bytes wanted after them. */
  skip: number
  length: number
}

function decryptor(key: Buffer, name: string, { first, blocks, skip, length }: Part): Transform {
  const block = Buffer.allocUnsafeSlow(sealedBlockBytes)
  let filled = 0
  let index = first
  let left = length
  const openBlock = () => {
    const decipher = createDecipheriv('aes-256-gcm', key, block.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decipher.setAAD(associatedData(name, index, index === blocks - 1))
    decipher.setAuthTag(block.subarray(Math.max(filled - tagBytes, nonceBytes), filled))
    const opened = Buffer.concat([decipher.update(block.subarray(nonceBytes, filled - tagBytes)), decipher.final()])
    const plain = opened.subarray(index === first ? skip : 0).subarray(0, left)
    left -= plain.length
    index += 1
    filled = 0
    return plain
  }
  const guarded = (done: (error?: Error | null, plain?: Buffer) => void, work: () => Buffer | undefined) => {
    try {
      done(null, work())
    } catch (cause) {
      done(new Error(`the encrypted file ${name} cannot be decrypted: it was changed or truncated`, { cause }))
    }
  }
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      guarded(done, () => {
        for (let rest = piece; rest.length > 0; ) {
          const taken = rest.copy(block, filled)
          filled += taken
          rest = rest.subarray(taken)
          if (filled === sealedBlockBytes) this.push(openBlock())
        }
        return undefined
      })
    },
    flush(done) {
      guarded(done, () => {
        // Even an empty file has a block, so a file without one was truncated.
        const rest = filled > 0 || index === first ? openBlock() : undefined
        if (left > 0) throw new Error(`${left} bytes are missing`)
        return rest
      })
    },
  })
}

function associatedData(name: string, index: number, isLast: boolean): Buffer {
  return Buffer.from(`orghub/file/v1\0${name}\0${index}\0${isLast ? 'last' : 'more'}`)
}
