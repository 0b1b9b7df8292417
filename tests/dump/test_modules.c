/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rows of mapped files: one with rows that can be packed, and one without. */
#include "dump/modules.h"
#include "symbols/child/child.h"
#include "tests/tap.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static char folder[] = "/tmp/jhot-modules.XXXXXX", path[64];
static char *image;
static size_t image_bytes;

static bool image_read(void)
{
	FILE *f = fopen("/proc/self/exe", "re");
	size_t n;

	if (!f)
		return false;
	do {
		image = realloc(image, image_bytes + 65536);
		n = image ? fread(image + image_bytes, 1, 65536, f) : 0;
		image_bytes += n;
	} while (n);
	fclose(f);
	return image_bytes > sizeof(Elf64_Ehdr);
}

/* The program header of the code, in the image. */
static Elf64_Phdr *code_header(void)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)(void *)image;
	Elf64_Phdr *p = (Elf64_Phdr *)(void *)(image + e->e_phoff);

	for (int i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X)
			return &p[i];
	return NULL;
}

/* The image as libjvm.so, its beginning and its code mapped; where the code is. */
static uint64_t map_image(const Elf64_Phdr *code, void *maps[2], size_t sizes[2])
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = code->p_offset & ~(page - 1);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	if (fd < 0 || write(fd, image, image_bytes) != (ssize_t)image_bytes)
		return 0;
	sizes[0] = page;
	sizes[1] = (size_t)(code->p_offset + code->p_filesz) - from;
	maps[0] = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	maps[1] = mmap(NULL, sizes[1], PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)from);
	close(fd);
	return maps[0] == MAP_FAILED || maps[1] == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)maps[1];
}

/* Has the file, mapped, rows? -1: the test itself failed. */
static int has_rows(const Elf64_Phdr *code)
{
	struct err why = {0};
	void *maps[2];
	size_t sizes[2];
	uint64_t start = map_image(code, maps, sizes);
	struct modules *m = start ? modules_open(getpid(), getpid(), &why) : NULL;
	const struct unwind_table *t = m ? modules_rows(m) : NULL;
	int found = -1;

	if (!m)
		diag("%s", start ? why.what : "the file cannot be mapped");
	if (t)
		found = 0;
	for (uint32_t i = 0; t && i < t->count; i++)
		found |= t->modules[i].start == start;
	modules_close(m);
	if (start) {
		munmap(maps[0], sizes[0]);
		munmap(maps[1], sizes[1]);
	}
	return found;
}

int main(int argc, char **argv)
{
	Elf64_Phdr *code;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	if (!mkdtemp(folder) || !image_read() || !(code = code_header()))
		tap_skip_all("this program's own file cannot be read");
	snprintf(path, sizeof(path), "%s/libjvm.so", folder);
	is_int(has_rows(code), 1, "a file with call frame information has rows");
	code->p_vaddr += 1ull << 40; /* what the information describes lies outside of the code */
	is_int(has_rows(code), 0, "a file whose rows cannot be compiled has none");
	unlink(path);
	rmdir(folder);
	free(image);
	return tap_done();
}
