import { Button, Group, SegmentedControl, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { getRouteApi } from '@tanstack/react-router'
import * as v from 'valibot'
import { patterns } from '../../../contract/literals.ts'
import { Help } from '../../components/help.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { CertificateDrawer } from './certificate-details.tsx'
import type { CertificatesSearch } from './certificates-search.ts'
import { ErasedRecords } from './erased-records.tsx'
import { PurgedRecords } from './purged-records.tsx'

const route = getRouteApi('/governance/certificates')

export default function CertificatesPage() {
  const { show, record } = route.useSearch()
  const navigate = route.useNavigate()
  const go = (change: CertificatesSearch) =>
    void navigate({ search: (before: CertificatesSearch) => ({ ...before, ...change }), replace: true })
  return (
    <>
      <PageHeader
        title="Deletions"
        help={<Help term="Erasure" />}
        about="A purged record can be restored for 30 days, longer while a legal hold is over it. Then it is erased for good, and a certificate proves that it existed, and when and why it went, without what it said."
      />
      <Group justify="space-between" align="flex-end" mb="md" gap="md">
        <SegmentedControl
          aria-label="Deletions that are shown"
          data={[
            { value: 'erased', label: 'Erased' },
            { value: 'purged', label: 'Purged' },
          ]}
          value={show ?? 'erased'}
          onChange={(value) => go({ show: value === 'purged' ? 'purged' : undefined })}
        />
        <FindCertificate onFind={(recordId) => go({ record: recordId })} />
      </Group>
      {show === 'purged' ? (
        <PurgedRecords />
      ) : (
        <ErasedRecords openId={record} onOpen={(recordId) => go({ record: recordId })} />
      )}
      <CertificateDrawer recordId={record} onClose={() => go({ record: undefined })} />
    </>
  )
}

const schema = v.object({
  recordId: v.pipe(
    v.string(),
    v.trim(),
    v.regex(new RegExp(patterns.uuid), 'An id of a record is a UUID, with hyphens.'),
  ),
})

function FindCertificate({ onFind }: { onFind(recordId: string): void }) {
  const form = useForm({ initialValues: { recordId: '' }, validate: schemaResolver(schema, { sync: true }) })
  return (
    <search>
      <form onSubmit={form.onSubmit(({ recordId }) => onFind(recordId.trim().toLowerCase()))}>
        <Group gap="xs" align="flex-start">
          <TextInput
            aria-label="Id of an erased record"
            placeholder="Id of an erased record"
            w={{ base: '100%', xs: 330 }}
            {...form.getInputProps('recordId')}
          />
          <Button type="submit" variant="default">
            Find certificate
          </Button>
        </Group>
      </form>
    </search>
  )
}
