import { expect, test } from 'vitest'
import * as provenance from '../../provenance/index.ts'

test('the public surface', () => {
  expect(Object.keys(provenance).sort()).toEqual(
    [
      ['ProvenanceError'],
      ['canonicalDepthMax', 'canonicalize', 'formatRecordHash', 'parseRecordHash', 'recordHash'],
      [
        'consistencyPath',
        'inclusionPath',
        'merkleRoot',
        'nodeHash',
        'rootFromInclusionPath',
        'verifyConsistency',
        'verifyConsistencyAsync',
      ],
      ['formatNote', 'formatVkey', 'parseNote', 'parseVkey', 'verifyNote', 'verifyNoteSync'],
      ['keyDocumentEntry', 'keyIdOf', 'parseKeyDocument', 'parseKeyDocumentAsync'],
      ['buildSeal', 'leafHash', 'sealNoteText', 'sealRecords', 'sealSizeMax'],
      ['cosignOfLeaf', 'cosignsOfSeal', 'decodeCosign', 'encodeCosign'],
      ['isJsonObject', 'itemOfResponse', 'supportedSchemaVersions', 'unhashedMembers'],
      ['isDeletionCertificate', 'verifyDeletionCertificate', 'verifyDeletionCertificateSync'],
      ['isProofBundle', 'proofBundleVersion', 'verifyProofBundle', 'verifyProofBundleSync'],
      ['logLeafHash', 'sealNote', 'sealNoteOfRecord', 'signedNote'],
      ['TreeBuilder', 'checkpointText', 'joinRoots', 'parseCheckpoint', 'rootOfRange', 'subtreesOf'],
      ['successionNote', 'successionNoteText', 'verifySuccession', 'verifySuccessionSync'],
      ['ExportLines', 'ExportVerifier', 'bufferedHash', 'prepareManifest', 'runAsync', 'runSync', 'verifyExport'],
      ['signSkillManifest', 'skillManifestNoteText', 'verifySkillManifest', 'verifySkillManifestSync'],
      ['verifyRecord', 'verifyRecordSync', 'verifyRecords', 'verifyRecordsSync'],
    ]
      .flat()
      .sort(),
  )
})
