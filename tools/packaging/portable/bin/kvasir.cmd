@echo off
rem Runs Kvasir with a JDK 25 or later of this machine: that of JAVA_HOME, or the java on the PATH.
rem KVASIR_JAVA_OPTS has further options for java.
setlocal DisableDelayedExpansion
set "least_java=25"
if defined JAVA_HOME set "PATH=%JAVA_HOME%\bin;%PATH%"

rem Options that were meant for another program would be printed at every start.
set "JAVA_TOOL_OPTIONS="
set "JDK_JAVA_OPTIONS="
set "_JAVA_OPTIONS="
set "CLASSPATH="

rem The line is: openjdk version "25.0.1" 2025-10-21
set "found=0"
for /f "tokens=3" %%v in ('java -version 2^>^&1 ^| findstr version') do set "found=%%~v"
set "major=0"
for /f "delims=.-+" %%m in ("%found%") do set "major=%%m"
if %major% geq %least_java% goto run
echo kvasir: no Java %least_java% or later was found in JAVA_HOME or on the PATH; install a JDK %least_java%, or set JAVA_HOME to it 1>&2
exit /b 1

:run
set "heap="
if "%~1"=="serve" set "heap=-Xms64m -Xmx768m"
if "%~1 %~2"=="bench serve" set "heap=-Xms64m -Xmx768m"
java --enable-native-access=ALL-UNNAMED %heap% %KVASIR_JAVA_OPTS% -cp "%~dp0..\app\kvasir.jar" dev.kvasir.cli.Main %*
exit /b %errorlevel%
