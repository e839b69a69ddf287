"""Code for every rule of `silent-failures.yml`: what it must report, and what it must leave alone."""

from typing import NamedTuple


class Case(NamedTuple):
    """A piece of code in a language, and the rule that it is about."""

    rule: str
    suffix: str
    code: str


def each(rule: str, suffix: str, *codes: str) -> list[Case]:
    """Cases for one rule in one language."""
    return [Case(rule, suffix, code) for code in codes]


def javascript(rule: str, *codes: str) -> list[Case]:
    """Cases for a rule that is one for JavaScript, TypeScript and both with elements of React in them."""
    named = {"js": rule, "jsx": rule, "mjs": rule, "ts": f"{rule}.ts", "mts": f"{rule}.ts", "tsx": f"{rule}.tsx"}
    return [case for suffix, name in named.items() for case in each(name, suffix, *codes)]


REPORTED = [
    *javascript(
        "js-assignment-in-condition",
        "if (x.length = 0) { f() }",
        "if (state = 'done') { f() }",
    ),
    *javascript(
        "js-callback-without-return",
        "const ids = users.map(user => { user.id })",
        "users.filter((user) => { user.age > 18 })",
    ),
    *javascript(
        "js-empty-catch",
        "try { f() } catch (error) {}",
        "try { f() } catch { }",
        "async function g() { try { await f() } catch (e) {\n} finally { h() } }",
        "try { f() } catch (e) { /* eslint-disable-line */ }",
    ),
    *javascript(
        "js-empty-catch-explained",
        "try { f() } catch { /* no storage in private windows */ }",
        "try { f() } catch (e) {\n  // the file may be gone\n}",
    ),
    *javascript(
        "js-promise-catch-does-nothing",
        "save().catch(() => {})",
        "save(1).then(next).catch((error) => {})",
        "save().catch(function () {})",
        "save().catch(function (error) {})",
        "save().catch(noop)",
    ),
    *each(
        "py-broad-handler-does-nothing",
        "py",
        "try:\n    f()\nexcept:\n    pass\n",
        "try:\n    f()\nexcept Exception:\n    pass\n",
        "try:\n    f()\nexcept BaseException as error:\n    ...\n",
        "try:\n    f()\nexcept (ValueError, Exception):\n    pass\n",
        "try:\n    f()\nexcept* Exception:\n    pass\n",
        "for x in y:\n    try:\n        f(x)\n    except Exception: continue\n",
        "try:\n    f()\nexcept Exception:  # noqa\n    pass\n",
    ),
    *each(
        "py-broad-handler-explained",
        "py",
        "try:\n    f()\nexcept Exception:  # noqa: BLE001\n    pass\n",
        "try:\n    f()\nexcept Exception:\n    # the hook is a courtesy\n    pass\n",
        "try:\n    f()\nexcept Exception:\n    pass  # best effort\n",
    ),
    *each(
        "py-broad-handler-gives-value",
        "py",
        "def g():\n    try:\n        return f()\n    except Exception:\n        return None\n",
        "try:\n    x = f()\nexcept:\n    x = 0\n",
    ),
    *each(
        "py-suppress-broad",
        "py",
        "with contextlib.suppress(Exception):\n    f()\n",
        "with suppress(ValueError, BaseException):\n    f()\n",
    ),
    *each(
        "py-gather-result-ignored",
        "py",
        "async def g():\n    await asyncio.gather(a(), b(), return_exceptions=True)\n",
        "async def g():\n    await gather(*many, return_exceptions = True)\n",
    ),
    *each("py-exit-status-ignored", "py", "os.system('make')\n", "subprocess.call(['make'], cwd=here)\n"),
    *each(
        "go-empty-error-check",
        "go",
        "package p\nfunc f() {\n\tif err != nil {\n\t}\n}\n",
        "package p\nfunc f() {\n\tif err := g(); err != nil {\n\t}\n}\n",
    ),
    *each(
        "go-error-discarded",
        "go",
        "package p\nfunc f() {\n\tn, _ := strconv.Atoi(s)\n\tuse(n)\n}\n",
        "package p\nfunc f() {\n\t_ = json.Unmarshal(raw, &v)\n}\n",
        "package p\nfunc f() {\n\tbody, _ = io.ReadAll(r)\n}\n",
    ),
    *each(
        "go-recover-dropped",
        "go",
        "package p\nfunc f() {\n\tdefer recover()\n}\n",
        "package p\nfunc f() {\n\tdefer func() { recover() }()\n}\n",
        "package p\nfunc f() {\n\tdefer func() {\n\t\t_ = recover()\n\t}()\n}\n",
    ),
    *each("rust-result-discarded", "rs", "fn f() { std::fs::remove_file(p).ok(); }\n"),
    *each("sh-failure-hidden", "sh", "make test || true\n", "pytest -q ||:\n", "git push origin main || true\n"),
    *each("java-empty-catch", "java", "class A { void f() { try { g(); } catch (Exception e) { } } }\n"),
    *each("java-empty-catch", "java", "class A { void f() { try { g(); } catch (final Throwable t) {} } }\n"),
    *each(
        "csharp-empty-catch",
        "cs",
        "class A { void F() { try { G(); } catch { } } }\n",
        "class A { void F() { try { G(); } catch (Exception e) { } } }\n",
        "class A { void F() { try { G(); } catch (System.Exception) { } } }\n",
    ),
    *each("kotlin-empty-catch", "kt", "fun f() { try { g() } catch (e: Exception) { } }\n"),
    *each(
        "php-empty-catch",
        "php",
        "<?php try { g(); } catch (\\Exception $e) { }\n",
        "<?php try { g(); } catch (Throwable $e) {}\n",
    ),
    *each(
        "ruby-empty-rescue",
        "rb",
        "begin\n  g\nrescue\nend\n",
        "begin\n  g\nrescue StandardError => e\nend\n",
        "def f\n  g\nrescue Exception\nend\n",
        "value = g rescue nil\n",
    ),
    *each("swift-empty-catch", "swift", "func f() { do { try g() } catch { } }\n"),
    *each(
        "cpp-empty-catch",
        "cpp",
        "void f() { try { g(); } catch (...) { } }\n",
        "void f() { try { g(); } catch (const std::exception& e) {} }\n",
    ),
]

LEFT_ALONE = [
    *each(
        "py-broad-handler-gives-value",
        "py",
        "try:\n    f()\nexcept Runner.Exception:\n    x = None\n",
        "def g():\n    try:\n        f()\n    except (Runner.Exception, OSError):\n        return None\n",
    ),
    *javascript(
        "js-empty-catch",
        "try { f() } catch (error) { report(error) }",
        "if (a) {}",
    ),
    *javascript("js-promise-catch-does-nothing", "save().catch((error) => { report(error) })"),
    *each(
        "py-broad-handler-does-nothing",
        "py",
        "try:\n    f()\nexcept KeyError:\n    pass\n",
        "try:\n    f()\nexcept HTTPException:\n    pass\n",
        "try:\n    f()\nexcept (OSError, ValueError):\n    pass\n",
        "try:\n    f()\nexcept Exception as error:\n    log(error)\n",
        "try:\n    f()\nexcept Exception:\n    raise\n",
        "try:\n    f()\nexcept ValueError:\n    x = Exception\n",
        "def g():\n    try:\n        f()\n    except Exception as error:\n        return error\n",
        "def g():\n    try:\n        f()\n    except Exception:  # a broken plug-in is none\n        return None\n",
        "def g():\n    try:\n        f()\n    except Exception:\n        return fallback()\n",
    ),
    *each("py-suppress-broad", "py", "with contextlib.suppress(KeyError):\n    f()\n", "suppress(output)\n"),
    *each(
        "py-gather-result-ignored",
        "py",
        "async def g():\n    results = await asyncio.gather(a(), return_exceptions=True)\n",
        "async def g():\n    await asyncio.gather(a(), b())\n",
        "async def g():\n    for t in tasks:\n        t.cancel()\n"
        "    await asyncio.gather(*tasks, return_exceptions=True)\n",
    ),
    *each("py-exit-status-ignored", "py", "code = os.system('make')\n", "if subprocess.call(['make']):\n    f()\n"),
    *each(
        "go-empty-error-check",
        "go",
        "package p\nfunc f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
        "package p\nfunc f() {\n\tif err != nil {\n\t\t// closed twice, which is harmless\n\t}\n}\n",
    ),
    *each(
        "go-error-discarded",
        "go",
        "package p\nfunc f() {\n\tv, _ := m[k]\n\tuse(v)\n}\n",
        "package p\nfunc f() {\n\t_ = conn.Close()\n}\n",
        "package p\nfunc f() {\n\tn, err := strconv.Atoi(s)\n\tuse(n, err)\n}\n",
        "package p\nfunc f() {\n\tfor i, _ := range xs {\n\t\tuse(i)\n\t}\n}\n",
    ),
    *each(
        "go-recover-dropped",
        "go",
        "package p\nfunc f() {\n\tdefer func() {\n\t\tif r := recover(); r != nil {\n\t\t\tlog(r)\n\t\t}\n\t}()\n}\n",
    ),
    *each("rust-result-discarded", "rs", "fn f() { let x = g().ok(); let _ = h(); g().unwrap(); }\n"),
    *each("sh-failure-hidden", "sh", "grep -q x file || true\n", "rm old || true\n", "make test || exit 1\n"),
    *each(
        "java-empty-catch",
        "java",
        "class A { void f() { try { g(); } catch (NumberFormatException e) { } } }\n",
        "class A { void f() { try { g(); } catch (Exception ignored) { } } }\n",
        "class A { void f() { try { g(); } catch (Exception e) { /* closing */ } } }\n",
        "class A { void f() { try { g(); } catch (Exception e) { log(e); } } }\n",
    ),
    *each(
        "csharp-empty-catch",
        "cs",
        "class A { void F() { try { G(); } catch (IOException) { } } }\n",
        "class A { void F() { try { G(); } catch (Exception e) when (e is Gone) { } } }\n",
        "class A { void F() { try { G(); } catch { throw; } } }\n",
        "class A { void F() { try { G(); } catch { /* closing */ } } }\n",
    ),
    *each(
        "kotlin-empty-catch",
        "kt",
        "fun f() { try { g() } catch (e: Exception) { log(e) } }\n",
        "fun f() { try { g() } catch (e: IOException) { } }\n",
        "fun f() { try { g() } catch (e: Exception) { /* closing */ } }\n",
    ),
    *each(
        "php-empty-catch",
        "php",
        "<?php try { g(); } catch (NotFoundException $e) { }\n",
        "<?php try { g(); } catch (\\Exception $e) { log($e); }\n",
        "<?php try { g(); } catch (\\Exception $e) { /* closing */ }\n",
    ),
    *each(
        "ruby-empty-rescue",
        "rb",
        "begin\n  g\nrescue KeyError\nend\n",
        "begin\n  g\nrescue => e\n  log(e)\nend\n",
        "begin\n  g\nrescue\n  # closing\nend\n",
        "value = g rescue 0\n",
    ),
    *each(
        "swift-empty-catch",
        "swift",
        "func f() { do { try g() } catch { log(error) } }\n",
        "func f() { do { try g() } catch { /* closing */ } }\n",
    ),
    *each(
        "cpp-empty-catch",
        "cpp",
        "void f() { try { g(); } catch (const Gone& e) { } }\n",
        "void f() { try { g(); } catch (...) { throw; } }\n",
        "void f() { try { g(); } catch (...) { /* closing */ } }\n",
    ),
]
