/**
 * Knows the environment variables that change what a program does before its own code decides anything.
 * @module
 */

/** Variables that change which code a program loads or runs, or where it connects. */
export const CHANGES_PROGRAM =
  /^(?:PATH|PATHEXT|NODE_\w+|BUN_\w+|DENO_\w+|LD_\w+|DYLD_\w+|PYTHON\w+|PERL5\w+|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_?JAVA_OPTIONS|JDK_JAVA_OPTIONS|DOTNET_\w+|CORECLR_\w+|BASH_ENV|ENV|SHELL|EDITOR|VISUAL|PAGER|BROWSER|IFS|PROMPT_COMMAND|GIT_\w+|npm_config_\w+|COREPACK_\w+|UV_\w+|PIP_\w+|POETRY_\w+|DOCKER_\w+|CONTAINER_HOST|\w*_PROXY|SSL_\w+|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|OPENSSL_\w+|GCONV_PATH|\w+_BASE_URL|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|XDG_\w+|TMPDIR)$/i;
