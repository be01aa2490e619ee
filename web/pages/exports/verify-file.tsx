import { Button, FileInput, Group, List, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { type VerificationReport, verifyExport } from '../../../provenance/index.ts'
import { useMe } from '../../api/me.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { formatBytes, formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { verifierOf } from '../../verification/use-verification.ts'
import { logKeys } from '../../verification/verify-record.ts'

const fileBytesMax = 50_000_000
const failuresShown = 20

/** Verifies a downloaded JSON Lines file in this browser: none of it leaves the machine. */
export function VerifyFile() {
  const { tenant } = useMe()
  const [file, setFile] = useState<File | null>(null)
  const [manifest, setManifest] = useState<File | null>(null)
  const tooLarge = (file?.size ?? 0) > fileBytesMax
  const verify = useAction({
    send: async (input: { file: File; manifest: File | null }) => {
      const verifier = await verifierOf(tenant)
      const { trusted } = await logKeys(verifier)
      const manifest = input.manifest ? new Uint8Array(await input.manifest.arrayBuffer()) : undefined
      return { data: await verifyExport({ file: piecesOf(input.file), manifest, keys: trusted }, verifier.crypto) }
    },
  })
  return (
    <Stack gap="sm" component="section" aria-labelledby="verify-file">
      <Title order={3} size="h4" id="verify-file">
        In this browser
      </Title>
      <Text size="sm" c="dimmed">
        Choose the file that you downloaded, and its manifest. They stay on this machine.
      </Text>
      <Group align="flex-start" gap="sm">
        <FileInput
          label="File"
          placeholder="exp_….jsonl"
          accept=".jsonl"
          clearable
          w={{ base: '100%', xs: 280 }}
          value={file}
          onChange={setFile}
          error={tooLarge && `Up to ${formatBytes(fileBytesMax)}; use the command for larger ones.`}
        />
        <FileInput
          label="Manifest"
          placeholder="exp_….jsonl.manifest.json"
          accept=".json"
          clearable
          w={{ base: '100%', xs: 280 }}
          value={manifest}
          onChange={setManifest}
          description=""
        />
      </Group>
      <Button
        variant="default"
        w="fit-content"
        disabled={!file || tooLarge}
        loading={verify.isPending}
        onClick={() => file && verify.mutate({ file, manifest })}
      >
        Verify in this browser
      </Button>
      {verify.error ? <ProblemNotice error={verify.error} title="The file could not be verified" /> : null}
      {verify.data && <Report report={verify.data} />}
    </Stack>
  )
}

function Report({ report }: { report: VerificationReport }) {
  const { verified, checked, failed, missing, failures, manifest } = report
  return (
    <Notice
      kind={verified ? 'good' : 'tampered'}
      title={verified ? `${formatCount(checked)} records verified` : 'The file does not verify'}
      urgent
    >
      <Text size="sm">
        {`${formatCount(checked)} records were checked, ${formatCount(failed)} failed, ${formatCount(missing)} are missing. `}
        {manifest
          ? manifest.isSigned
            ? 'The manifest is signed by the log.'
            : 'No trusted key signed the manifest.'
          : 'Without the manifest, whether a record is missing is not known.'}
      </Text>
      {failures.length > 0 && (
        <List size="sm">
          {failures.slice(0, failuresShown).map(({ line, record_id, reason }) => (
            <List.Item key={`${line} ${record_id} ${reason}`}>
              {line === null ? '' : `Line ${line}: `}
              {reason}
            </List.Item>
          ))}
        </List>
      )}
    </Notice>
  )
}

/** Yields the file in chunks, between which the page stays responsive. */
async function* piecesOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
