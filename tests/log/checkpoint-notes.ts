import { generateKeyPairSync, sign } from 'node:crypto'
import { utf8 } from '../../provenance/bytes.ts'
import { checkpointText, keyIdOf, signedNote } from '../../provenance/index.ts'
import type { StoredCheckpoint } from '../../server/modules/log/checkpoint-sinks/checkpoint-types.ts'
import type { LogHead } from '../../server/modules/log/log-types.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'

/** A log that signs whatever state it is told. */
export function openNoteMaker(logName = 'orghub/log/AAAAAAAAAAAAAAAAAAAAAA') {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const keyId = keyIdOf(logName, raw, nodeCrypto.sha256)

  function head(treeSize: number, root = rootOf(`${treeSize}`)): LogHead {
    const text = checkpointText({ logName, treeSize, root, timeMicros: 1_700_000_000_000_000 + treeSize })
    const checkpoint = signedNote(text, logName, keyId, sign(null, utf8(text), privateKey))
    return { treeSize, root, checkpoint }
  }

  function kept(treeSize: number, root?: Uint8Array): StoredCheckpoint {
    const { checkpoint } = head(treeSize, root)
    return { kept_at: '2026-01-01T00:00:00.000000Z', log_name: logName, tree_size: treeSize, checkpoint }
  }

  return { logName, keyId, publicKey: raw, head, kept }
}

export function rootOf(name: string): Uint8Array {
  return nodeCrypto.sha256(utf8(name))
}
